#include "tuner/model/candidate_features.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "codegen/strategy.h"
#include "core/arch.h"
#include "core/tile_config.h"
#include "tuner/model/performance_model.h"
#include "tuner/model/tensor_model.h"

namespace gemmtune::tuner {
namespace {

constexpr double kFixedUs = 3;         // launch and first loads
constexpr double kMostModelled = 1e9;  // us; stands for what the model says cannot run

float log2_of(double value) {
  return static_cast<float>(std::log2(std::max(value, 1e-6)));
}

float index_of(const codegen::Strategy* strategy) {
  const auto all = codegen::strategies();
  return static_cast<float>(std::find(all.begin(), all.end(), strategy) - all.begin());
}

// Share of the computed tiles that lies inside C.
double useful(const TileConfig& tile, const Shape& shape) {
  const auto padded = [](int64_t size, int part) {
    const int64_t step = std::max(1, part);
    const int64_t steps = (size + step - 1) / step;
    return static_cast<double>(steps * step);
  };
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) /
         (padded(shape.m, tile.tile_m) * padded(shape.n, tile.tile_n));
}

}  // namespace

std::vector<float> candidate_features(const codegen::KernelSpec& spec, const Problem& problem,
                                      const DeviceSpec& device) {
  std::vector<float> features;
  for (const TileField& field : tile_fields())
    features.push_back(log2_of(1.0 + spec.tile.*(field.member)));

  const int registers = spec.strategy->estimated_registers(spec);
  const int threads = spec.strategy->threads(spec.tile);
  const Prediction model = predict(spec, registers, problem, device);
  const double resident = model.occupancy.blocks_per_sm * static_cast<double>(device.sm_count);
  const double blocks = model.waves * resident;
  const double blocks_per_sm = blocks / device.sm_count;
  features.push_back(index_of(spec.strategy));
  features.push_back(log2_of(std::min(model.total_us, kMostModelled)));
  features.push_back(static_cast<float>(registers));
  features.push_back(log2_of(threads));
  features.push_back(log2_of(spec.strategy->smem_bytes(spec)));
  features.push_back(log2_of(blocks));
  features.push_back(static_cast<float>(model.waves));
  features.push_back(static_cast<float>(model.waves / std::max(1.0, std::ceil(model.waves))));
  features.push_back(static_cast<float>(blocks_per_sm / std::max(1.0, std::ceil(blocks_per_sm))));
  features.push_back(log2_of(std::min(blocks, resident) * threads / kWarpSize / device.sm_count));
  features.push_back(log2_of(static_cast<double>(spec.strategy->work(spec, problem).block_depth)));
  features.push_back(static_cast<float>(useful(spec.tile, problem.shape)));

  const Shape& shape = problem.shape;
  for (const int64_t size : {shape.m, shape.n, shape.k, problem.batch})
    features.push_back(log2_of(static_cast<double>(size)));
  const KernelTraits& traits = spec.traits;
  for (const int value :
       {traits.vector_a, traits.vector_b, traits.vector_c, static_cast<int>(traits.a_row_major),
        static_cast<int>(traits.b_row_major)})
    features.push_back(static_cast<float>(value));
  return features;
}

double ideal_us(const Problem& problem, const DeviceSpec& device) {
  const bool tensor_cores =
      on_tensor_cores(problem.type, problem.math) && device.tensor_f16_tflops > 0;
  const double flops_per_us =
      tensor_cores ? tensor_tflops(problem.type, problem.math, device) * 1e6
                   : 2.0 * device.fp32_lanes_per_sm * device.sm_count * device.boost_clock_mhz;
  const double memory_us = min_bytes_moved(problem) / (device.memory_gb_per_s * 1e3);
  return std::max(flops(problem) / flops_per_us, memory_us) + kFixedUs;
}

}  // namespace gemmtune::tuner
