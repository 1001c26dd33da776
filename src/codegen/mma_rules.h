#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/strategy.h"

// What the tensor-core strategies share on the host: those built on parts/mma_mainloop.cuh
// (mma.sync), and wmma with them.

namespace gemmtune::codegen::mma {

std::span<const std::string_view> parameters();

int threads(const TileConfig& tile);  // that share a block tile

// Bytes of a pipeline's buffers.
int pipeline_bytes(const KernelSpec& spec);

// Bytes of the pipeline's buffers, or of what the results pass through, whichever is more.
int smem_bytes(const KernelSpec& spec);

// Of that, what results pass through: 16 rows of each warp's sums.
int slabs_bytes(const TileConfig& tile, DataType sums);

int estimated_registers(const KernelSpec& spec);

// Of elements in shared memory: spec.type, unless they are converted on their way.
DataType shared_type(const KernelSpec& spec);

// Whether a thread holds its share of the next k tile in registers: without stages, and where there
// is no cp.async.
bool copies_through_registers(const TileConfig& tile, const DeviceSpec& device);

// What that takes.
int held_registers(const KernelSpec& spec);

// Whether the arch's tensor cores multiply elements of `type`, and the problem fits one grid.
Expected<void> multiplies(DataType type, const Problem& problem, Arch arch);

// f16 and bf16, and f32 in tf32 modes, where the arch multiplies them.
Expected<void> supports(const Problem& problem, Arch arch);

// A multiply-add's share of what a block copies and of what a warp reads as fragments.
LoadBytes loads(const KernelSpec& spec);

MainloopCost mainloop(const KernelSpec& spec, const DeviceSpec& device);

// The rules of tiles, pipeline and copies, followed by the hardware's limits.
std::vector<Rule> rules();

// Those of strategies that have no stages and no fragment buffers to choose.
std::vector<Rule> rules_without_pipeline();

}  // namespace gemmtune::codegen::mma
