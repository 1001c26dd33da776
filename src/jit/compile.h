#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "codegen/kernel_source.h"
#include "core/arch.h"
#include "jit/nvrtc.h"
#include "jit/resource_usage.h"

namespace gemmtune::jit {

// One kernel for one arch.
struct CompileRequest {
  codegen::KernelSource source;
  Arch arch;
  std::vector<std::string> options;  // after the source's own, so they win where NVRTC lets them
};

// Machine code that the driver can load, with what it takes.
struct CompiledKernel {
  std::string name;  // the source's
  Arch arch;
  std::vector<std::byte> cubin;
  std::vector<EntryUsage> entries;    // one for each entry of the source, in the source's order
  std::vector<std::string> warnings;  // compiler warnings and performance notes
  double compile_ms = 0;              // of the compilation, also where it came from the cache
  bool from_cache = false;

  // The usage of `entry`, else null.
  const ResourceUsage* usage(std::string_view entry) const;
};

struct PtxText {
  std::string name;
  Arch arch;
  std::string ptx;
  double compile_ms = 0;
  bool from_cache = false;
};

// Where a compilation ended.
enum class CompilePhase {
  arch,       // this NVRTC does not serve the arch
  front_end,  // C++ errors, unknown options
  assembler,  // ptxas refused, e.g. too much shared memory
  output,     // compiled, but an entry of the source is missing
  process,    // what compiled was killed before its end, which says nothing of the source
};
std::string_view to_string(CompilePhase phase);

struct CompileFailure {
  CompilePhase phase = CompilePhase::front_end;
  std::string first_error;  // one line
  std::string log;          // all the compiler said
};

using CompileResult = tl::expected<CompiledKernel, CompileFailure>;
// What makes machine code of requests, from several threads at once.
using CompileFunction = std::function<CompileResult(const CompileRequest&)>;
using PtxResult = tl::expected<PtxText, CompileFailure>;

// The options that NVRTC is given for a request: arch, language, assembler report, include folder,
// then the source's and the request's own. `ptx` asks for PTX text in place of machine code.
std::vector<std::string> compiler_options(const Nvrtc& nvrtc, const CompileRequest& request,
                                          bool ptx = false);

// The option that names NVRTC's own include folder; empty if it has none.
std::string include_option(const Nvrtc& nvrtc);

// Compiles to machine code, or to PTX for the arch's virtual twin (compute_XX). No GPU, no driver.
// Thread-safe; a call takes from 0.1 s to some seconds.
CompileResult compile(const Nvrtc& nvrtc, const CompileRequest& request);
PtxResult compile_to_ptx(const Nvrtc& nvrtc, const CompileRequest& request);

}  // namespace gemmtune::jit
