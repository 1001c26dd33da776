#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "codegen/strategy.h"

// What the tiled fp32 strategies share on the host: the geometry of block, warp and thread tiles,
// and the legality rules that follow from it.

namespace gemmtune::codegen::simt {

// Whether `whole` is made of `part`s; both at least 1.
bool divides(int part, int whole);

int warps(const TileConfig& tile);    // a block
int threads(const TileConfig& tile);  // a block

// Threads of a block where thread tiles make up the block tile directly (block_thread_tile.cuh);
// an unused thread_m or thread_n, 0, counts as 1.
int block_tile_threads(const TileConfig& tile);

// Elements that an access moves where the alignment allows `aligned` (kAccessWidth in
// parts/vector_access.cuh).
int access_width(const TileConfig& tile, int aligned);

// Floats of padding at the end of each row of a shared tile: 4 where the operand is transposed on
// its way in (contiguous along k), else 0.
int pad_a(const KernelTraits& traits);
int pad_b(const KernelTraits& traits);

// Bytes of `buffers` pairs of A and B tiles, padding included.
int smem_bytes(const KernelSpec& spec, int buffers);

// Bytes of one pair of A and B tiles without padding (guarded_gemm.cuh).
int unpadded_smem_bytes(const KernelSpec& spec);

// Registers of a thread whose copies and products do not overlap: accumulators, the larger of
// fragments and words in flight, addresses.
int single_buffer_registers(const KernelSpec& spec);

// Registers of a thread that multiplies one pair of tiles while it loads the next
// (double_buffer_mainloop.cuh).
int double_buffer_registers(const KernelSpec& spec);

// An error if the tiles of `problem`, of at least 8 x 8, may be more than one grid holds.
Expected<void> fits_one_grid(const Problem& problem);

// Supported: plain fp32 whose tiles fit one grid.
Expected<void> supports_f32(const Problem& problem);

// The rules that follow from block, warp and thread tiles (divisibility, lane grid, registers,
// shared memory), followed by a strategy's own.
std::vector<Rule> rules_with(std::span<const Rule> own);

// The same for strategies without warp tiles (block_thread_tile.cuh): the geometry's rules, a
// strategy's own, the hardware's limits.
std::vector<Rule> block_tile_rules_with(std::span<const Rule> own);

// Block tiles are made of whole warp tiles.
std::span<const Rule> block_of_warps_rules();

// What the hardware asks of any kernel: threads, registers and shared memory of a block, and of
// min_blocks blocks an SM.
std::span<const Rule> limit_rules();

// Whether none of `rules` is broken.
bool all_hold(std::span<const Rule> rules, const RuleInput& in);

// Several lists as one, in that order.
std::vector<Rule> joined(std::initializer_list<std::span<const Rule>> lists);

// Rules of strategies that load shared tiles word by word (guarded_gemm.cuh).
std::span<const Rule> guarded_rules();

// Rules of strategies that copy tiles through registers (tile_loader.cuh).
std::span<const Rule> register_copy_rules();

}  // namespace gemmtune::codegen::simt
