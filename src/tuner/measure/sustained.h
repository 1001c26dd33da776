#pragma once

#include <optional>

#include "gpu/cuda_error.h"
#include "gpu/nvml.h"
#include "gpu/stream.h"
#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {

// A product that runs again and again without a rest, at the clocks that the power limit leaves.
struct SustainedLoad {
  double time_us = 0;                  // of one product, the median
  std::optional<double> sm_clock_mhz;  // the median; nothing where the driver does not tell
  std::optional<double> power_w;       // the median, of the whole board

  // Of one product, in joules.
  std::optional<double> energy_j() const;
};

// Loads the card with the graph until a power limit has settled, measures, and rests until the load
// is forgotten: half a second in all, more where a graph lasts tens of milliseconds.
gpu::Result<SustainedLoad> measure_sustained(const TimedGraph& graph, const gpu::Stream& stream,
                                             const std::optional<gpu::NvmlDevice>& nvml);

}  // namespace gemmtune::tuner
