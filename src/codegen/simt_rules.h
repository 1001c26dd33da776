#pragma once

#include <span>
#include <vector>

#include "codegen/strategy.h"

// What the tiled fp32 strategies share on the host: the geometry of block, warp and thread tiles,
// and the legality rules that follow from it.

namespace gemmtune::codegen::simt {

int warps(const TileConfig& tile);    // a block
int threads(const TileConfig& tile);  // a block

// Floats of padding at the end of each row of a shared tile: 4 where the operand is transposed on
// its way in (contiguous along k), else 0.
int pad_a(const KernelTraits& traits);
int pad_b(const KernelTraits& traits);

// Bytes of `buffers` pairs of A and B tiles, padding included.
int smem_bytes(const KernelSpec& spec, int buffers);

// Blocks of `problem` in the one-dimensional grid that raster.cuh unfolds.
Dim3 tile_grid(const TileConfig& tile, const Problem& problem);

// One launch of spec.strategy on that grid, without workspace.
LaunchPlan single_launch(const KernelSpec& spec, const Problem& problem);

// Supported: plain fp32 whose tiles fit one grid.
Expected<void> supports_f32(const Problem& problem);

// The rules that follow from block, warp and thread tiles (divisibility, lane grid, registers,
// shared memory), followed by a strategy's own.
std::vector<Rule> rules_with(std::span<const Rule> own);

// Rules of strategies that copy tiles through registers (tile_loader.cuh).
std::span<const Rule> register_copy_rules();

}  // namespace gemmtune::codegen::simt
