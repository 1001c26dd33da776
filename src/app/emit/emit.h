#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/filter.h"
#include "app/common/problems.h"
#include "codegen/kernel_spec.h"
#include "codegen/strategy.h"
#include "jit/resource_usage.h"

namespace gemmtune::app {

enum class EmitFormat { source, ptx, cubin };

struct EmitOptions {
  std::optional<int64_t> id;  // of a candidate: its kernel for its own problem; else `problem`'s
  ProblemOptions problem;
  std::string arch;
  std::string device;    // as FilterOptions::device: whose best
  std::string model;     // as TargetOptions::model, for a tile that the model chooses
  std::string strategy;  // with `tile`: this kernel; else the best of the database, or the model's
  std::string tile;      // "tile_m=128 tile_n=128 ..."
  bool reads_c = false;  // the kernel for calls whose beta is not 0
  EmitFormat format = EmitFormat::source;
};

// Whether a problem or a kernel is named, in whole or in part, beside an id.
bool names_kernel(const EmitOptions& options);

// A kernel as text or machine code.
struct EmittedKernel {
  codegen::KernelSpec spec;
  std::string name;                     // the extern "C" entry
  std::optional<Arch> arch;             // where one was given or found
  codegen::LaunchPlan plan;             // for the problem that was asked for
  std::optional<store::Record> record;  // the result it comes from, if it was looked up
  std::string model;                    // the GPU that the model chose the tile for; else empty
  EmitFormat format = EmitFormat::source;
  std::string content;                   // standalone CUDA source, PTX, or the bytes of a cubin
  std::vector<jit::EntryUsage> entries;  // what a cubin takes, the main kernel first; else empty
};

// The kernel of a candidate, or that strategy and tile name; else the best of the database for the
// problem; else, of a strategy that is named, the tile that the performance model ranks first.
// Reads only. ErrorKind::not_found where nothing is stored and no strategy named, usage for a tile
// that is illegal (names the rule).
Expected<EmittedKernel> emit(const Context& context, const EmitOptions& options);

// The kernel of a stored record, for the record's own problem; `reads_c` as in EmitOptions.
// ErrorKind::unsupported for a vendor's algorithm and for a record of another version.
Expected<EmittedKernel> emit_record(const Context& context, const store::Record& record,
                                    EmitFormat format, bool reads_c);

// Everything but machine code, which has no place in JSON.
std::string emit_json(const EmittedKernel& kernel);

}  // namespace gemmtune::app
