#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "codegen/strategy.h"

// What all strategies whose blocks compute tiles of C share, on whatever units: the grid, the
// hardware's limits, and how their rules are put together.

namespace gemmtune::codegen::tiling {

inline constexpr int kSmallestTile = 8;  // a side of a block tile where grids are counted

// One block per tile of C, in the one-dimensional grid that raster.cuh unfolds.
int64_t tile_blocks(const TileConfig& tile, const Problem& problem);

// The same, with its formula, `times` as many.
BlockCount tile_grid(const TileConfig& tile, const Problem& problem, int times = 1);

// Blocks of each cluster that the main kernel is launched in, for operands or sums that they share;
// 1 where it is launched without clusters.
int blocks_of_cluster(const TileConfig& tile);

// Blocks that take `per_block` elements of C each.
BlockCount element_grid(int64_t per_block, const Problem& problem);

// An error if the tiles of `problem`, of at least 8 x 8, may be more than one grid holds.
Expected<void> fits_one_grid(const Problem& problem);

// Bytes of one multiply-add's share of a tile of C, m x n: an element of A, of `bytes`, serves n of
// them, one of B serves m.
double loaded_bytes(int bytes, int m, int n);

// Block tiles are made of whole warp tiles.
std::span<const Rule> block_of_warps_rules();

// What the hardware asks of any kernel: threads, registers and shared memory of a block, and of
// min_blocks blocks per SM.
std::span<const Rule> limit_rules();

// Whether none of `rules` is broken.
bool all_hold(std::span<const Rule> rules, const RuleInput& in);

// Several lists as one, in that order.
std::vector<Rule> joined(std::initializer_list<std::span<const Rule>> lists);

}  // namespace gemmtune::codegen::tiling
