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

// f16 and bf16 on sm_90, in one grid.
Expected<void> supports(const Problem& problem, Arch capability);

// Rules of tiles, stages, clusters and registers, followed by the hardware's limits.
std::vector<Rule> rules();

int smem_bytes(const KernelSpec& spec);
// As the launch gives them to each thread; setmaxnreg shares them out.
int estimated_registers(const KernelSpec& spec);

LoadBytes loads(const KernelSpec& spec);
MainloopCost mainloop(const KernelSpec& spec);

// The header of the kernel's one product.
SourceHeader instruction(const KernelSpec& spec);

// The tensor maps of A and B, in boxes that a block loads at once.
TensorMapArgument map_of_a(const KernelSpec& spec, const Problem& problem);
TensorMapArgument map_of_b(const KernelSpec& spec, const Problem& problem);
// That of C, in boxes that a warp stores at once; none where results leave another way.
std::optional<TensorMapArgument> map_of_c(const KernelSpec& spec, const Problem& problem);
bool stores_boxes(const KernelSpec& spec);

// Tiles of C that clusters compute, in whole clusters of blocks.
BlockCount cluster_grid(const TileConfig& tile, const Problem& problem);

}  // namespace gemmtune::codegen::wgmma
