#pragma once

#include <span>

#include "codegen/strategy.h"

// What the strategies built on parts/multistage_mainloop.cuh share on the host.

namespace gemmtune::codegen::multistage_loop {

inline constexpr int kFirstArch = 80;  // cp.async

// Rules of the pipeline, to go with simt::rules_with().
std::span<const Rule> rules();

// f32 on an arch that has cp.async.
Expected<void> supports(const Problem& problem, Arch arch);

// Of the buffers of one pipeline; without stages there are two.
int smem_bytes(const KernelSpec& spec);

int estimated_registers(const KernelSpec& spec);

}  // namespace gemmtune::codegen::multistage_loop

// Of strategies that choose between two buffers filled through registers and this pipeline, by
// TileConfig's copy or stages.
namespace gemmtune::codegen::either_loop {

bool through_registers(const TileConfig& tile);

// Whether the arch has what copies the tile.
bool arch_copies(const RuleInput& in);

// Whether the threads or warps of a block divide the copies of a tile, and the rules of the
// pipeline hold where it is chosen.
bool copies_divide(const RuleInput& in);

// `cost` with what is copied ahead, and how.
MainloopCost with_copies(MainloopCost cost, const TileConfig& tile);

int estimated_registers(const KernelSpec& spec);

}  // namespace gemmtune::codegen::either_loop
