#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/launch_plan.h"
#include "codegen/strategy.h"

// What the strategies on Hopper's tensor cores (parts/wgmma/) share on the host.

namespace gemmtune::codegen::wgmma {

// On sm_90, in one grid.
Expected<void> fits(const Problem& problem, Arch capability);
// The same, and operands that TMA and wgmma take as they are: f16, bf16, and, where k is contiguous
// in both, tf32, e4m3, e5m2 and i8.
Expected<void> supports(const Problem& problem, Arch capability);

// Rules of tiles and stages.
std::span<const Rule> tile_rules();
// Of clusters that share tiles.
std::span<const Rule> cluster_rules();
// Of registers where setmaxnreg shares them out.
std::span<const Rule> register_rules();

// Bytes of all stages.
int stages_bytes(const KernelSpec& spec);

// Of a consumer's thread: its sums and what else stays live beside them.
int consumer_registers(const KernelSpec& spec);
// Before setmaxnreg: the sums of one product and what the assembler keeps beside them.
int registers_of_product(const KernelSpec& spec);

// Of an operand that tensor cores read for one value of k: of all products of planes.
int operand_bytes_of_product(const KernelSpec& spec);
// The same that is copied to shared memory for them.
int loaded_bytes_of_product(const KernelSpec& spec);
LoadBytes loads(const KernelSpec& spec);
MainloopCost mainloop(const KernelSpec& spec);

// Strategy::slow_rows(), of tiles that stick out of C or, of few rows or with an edge, may end with
// it.
int64_t slow_rows(const TileConfig& tile, const Problem& problem, bool may_end_with_c);

// The header of the kernel's one product.
SourceHeader instruction(const KernelSpec& spec);

// Matrices in device memory, one behind the other, and how people call that. Leading dimension and
// stride are in elements.
struct MatrixPlace {
  Buffer buffer = Buffer::workspace;
  int64_t offset_bytes = 0;
  int64_t ld = 0;
  int64_t stride = 0;
  int64_t matrices = 1;
  std::string ld_formula;
  std::string stride_formula;
  std::string matrices_formula;
  std::string offset_formula = "0";  // bytes
};

// The problem's own.
MatrixPlace place_of_a(const Problem& problem);
MatrixPlace place_of_b(const Problem& problem);

// The tensor maps of A and B, in boxes that a block loads at once.
TensorMapArgument map_of_a(const KernelSpec& spec, const Shape& shape, const MatrixPlace& at);
TensorMapArgument map_of_b(const KernelSpec& spec, const Shape& shape, const MatrixPlace& at);
// That of C, in boxes that a warp or, exchanged, a consumer stores; none where results leave
// another way.
std::optional<TensorMapArgument> map_of_c(const KernelSpec& spec, const Problem& problem);
bool stores_by_tma(const KernelSpec& spec);

// Tiles of C that clusters compute, in whole clusters of blocks.
BlockCount cluster_grid(const TileConfig& tile, const Problem& problem);
// The same where TileConfig::slices clusters share out the k of each.
BlockCount sliced_cluster_grid(const TileConfig& tile, const Problem& problem);

}  // namespace gemmtune::codegen::wgmma
