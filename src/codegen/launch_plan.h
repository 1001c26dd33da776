#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/launch_config.h"
#include "core/tensor_map.h"

namespace gemmtune::codegen {

struct KernelSpec;

// What an entry point takes as one of its parameters.
enum class ParameterKind {
  gemm,        // GemmArgs; DeviceScalarArgs where KernelSpec::device_scalars is set
  address,     // a pointer into device memory
  tensor_map,  // a CUtensorMap, for TMA copies
};

// Device memory that a launch is given.
enum class Buffer { a, b, c, workspace };

// The GEMM arguments: sizes, strides, addresses and scalars of the problem, or of some rows of its
// C, and the order in which blocks go through the tiles.
struct GemmArgument {
  int raster = 0;  // as GemmArgs has it
  int64_t first_row = 0;
  int64_t rows = 0;  // 0: all
};

struct AddressArgument {
  Buffer buffer = Buffer::workspace;
  int64_t offset_bytes = 0;
};

struct TensorMapArgument {
  Buffer buffer = Buffer::a;
  int64_t offset_bytes = 0;  // a multiple of 16
  TensorMapConfig config;
  // The same for people who launch the emitted source, as BlockCount::formula: the offset, the
  // extents, the strides in bytes, and the lines of a box where those follow from the problem.
  std::string offset_formula = "0";
  std::array<std::string, 3> extent_formulas;
  std::array<std::string, 2> stride_formulas;
  std::string lines_formula;  // config.box[1]; empty: that number always
};

using KernelArgument = std::variant<GemmArgument, AddressArgument, TensorMapArgument>;

ParameterKind kind_of(const KernelArgument& argument);

// A kernel of a strategy's template: a static member function of its struct.
struct EntryPoint {
  std::string_view suffix;          // appended to kernel_name(spec); empty for the main kernel
  std::string_view function;        // "run"
  int threads = 0;                  // per block
  std::string_view threads_member;  // the template's constant that must agree: "kThreads"
  int min_blocks = 0;               // for __launch_bounds__; 0: none
  int smem_bytes = 0;               // dynamic, per block
  std::vector<ParameterKind> parameters = {ParameterKind::gemm};
};

// A number of blocks, and how it follows from the problem, for people who launch the emitted
// source: an expression in GemmArgs' m, n, k, batch, leading dimensions and strides, and what
// LaunchPlan::quantities and preamble declare. It has C's operators, min(), and ceil(x / y), x
// divided by y and rounded up.
struct BlockCount {
  int64_t blocks = 0;
  std::string formula;  // "ceil(m / 128) * ceil(n / 64) * batch"
};

// What several formulas of a plan name.
struct Quantity {
  std::string name;     // "ld_a"
  std::string formula;  // as BlockCount::formula
  std::string meaning;
};

// One kernel launch of a candidate.
struct KernelLaunch {
  int entry = 0;  // index into Strategy::entry_points() and KernelSource::entries
  LaunchConfig config;
  std::vector<KernelArgument> arguments = {GemmArgument{}};
  std::string grid_formula;  // BlockCount::formula
  std::string condition;     // it is only launched if this holds; empty: always
};

// Everything that is launched, in order on one stream, to compute a problem. GemmArgs::workspace
// points at workspace_bytes of device memory.
struct LaunchPlan {
  std::vector<KernelLaunch> launches;
  int64_t workspace_bytes = 0;
  std::string workspace_formula;  // bytes; empty where there is none
  // At the workspace's end: words by which blocks wait for each other, which are read before they
  // are written, whatever they hold.
  int64_t awaited_bytes = 0;
  bool writes_c_early = false;       // a launch before the last one writes C
  std::vector<Quantity> quantities;  // each may name those before it
  std::string preamble;              // host code that the formulas need; empty: none
  std::string limit;                 // of the problem, beside what grids can hold; empty: none
};

// Whether no grid has more blocks than a GPU can launch.
bool fits_grids(const LaunchPlan& plan);

// The launch of entry point `entry` of `spec` over so many blocks; its arguments are GemmArgs. Of
// more blocks than a grid can have, one that fits_grids() and the driver refuse.
KernelLaunch launch_of(const KernelSpec& spec, int entry, const BlockCount& grid);

// How a user launches the emitted source of `spec`, from the plan of a problem that agrees with it:
// kernels in their order, grid, block, dynamic shared memory, tensor maps, workspace. Whole lines,
// without comment marks.
std::string launch_notes(const KernelSpec& spec, const LaunchPlan& plan);

}  // namespace gemmtune::codegen
