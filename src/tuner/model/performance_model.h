#pragma once

#include <string_view>

#include "codegen/strategy.h"
#include "core/device.h"
#include "core/problem.h"

namespace gemmtune::tuner {

// What limits the blocks that are resident on an SM at once.
struct Occupancy {
  int blocks_per_sm = 0;  // 0: the kernel does not fit at all
  int warps_per_sm = 0;
  const char* limited_by = "";  // "registers", "shared memory", "threads", "blocks"
};

// Resident blocks from the limits of `device`. Registers are handed out to a warp in units of 256
// (CUDA programming guide, "Compute Capabilities").
Occupancy occupancy(const DeviceSpec& device, int threads, int registers, int smem_bytes);

// Where the time of a kernel goes, by the model. The parts overlap; total_us is the largest of the
// three streams over the waves, plus launch and pipeline fill.
struct Prediction {
  double total_us = 0;
  double arithmetic_us = 0;  // issue slots of the main loop, or waiting for its loads
  double smem_us = 0;        // shared-memory wavefronts of the fragment reads
  double memory_us = 0;      // DRAM traffic
  Occupancy occupancy;
  double waves = 0;  // blocks over resident blocks of the whole device
};

// An analytic model of the tiled kernels: fp32 on the SIMT units, 16-bit on the tensor cores
// (tensor_model.h, warpgroup_model.h). `registers` is the compiler's count, or
// Strategy::estimated_registers before compiling. It gives a search its first candidates, and is
// all there is without a device; absolute times are off by 10 to 30%. How well it orders what was
// measured: `gemm-tune model report`, and docs/performance.md, "Search".
Prediction predict(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                   const DeviceSpec& device);

// Lower bounds of predict() for kernels of which only some parameters are decided: geometry
// (Strategy::is_geometry) first, then what shares out work over blocks and warps, then all others.
// What is not decided, `spec` has at its most permissive values, with which it needs the least
// shared memory. `registers` is the least that any of the kernels is estimated to need.
bool shares_out_work(std::string_view parameter);  // one that is not geometry

// No kernel of that geometry that shares out work in the same way is predicted to be faster.
double least_us_of_work(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                        const DeviceSpec& device);
// No kernel of that geometry is. Looser, in less time than trying all ways of sharing out takes.
double least_us_of_geometry(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                            const DeviceSpec& device);

}  // namespace gemmtune::tuner
