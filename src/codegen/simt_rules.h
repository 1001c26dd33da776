#pragma once

#include <span>
#include <vector>

#include "codegen/strategy.h"

// What the tiled fp32 strategies share on the host: the legality rules that follow from block, warp
// and thread tiles (parts/shared/thread_tiles.h).

namespace gemmtune::codegen::simt {

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

// Supported: plain fp32 whose tiles fit one grid.
Expected<void> supports_f32(const Problem& problem);

// The rules that follow from block, warp and thread tiles (divisibility, lane grid, registers,
// shared memory), followed by a strategy's own.
std::vector<Rule> rules_with(std::span<const Rule> own);

// The same for strategies without warp tiles (block_thread_tile.cuh): the geometry's rules, a
// strategy's own, the hardware's limits.
std::vector<Rule> block_tile_rules_with(std::span<const Rule> own);

// Rules of strategies that load shared tiles word by word (guarded_gemm.cuh).
std::span<const Rule> guarded_rules();

// Rules of strategies that copy tiles through registers (tile_loader.cuh).
std::span<const Rule> register_copy_rules();

}  // namespace gemmtune::codegen::simt
