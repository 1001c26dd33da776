#include "tuner/model/candidate_features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "codegen/strategy.h"
#include "core/arch.h"
#include "core/tile_config.h"
#include "tuner/model/performance_model.h"
#include "tuner/model/tensor_model.h"

namespace gemmtune::tuner {
namespace {

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

// In the order of candidate_features(), behind the tile's fields.
constexpr std::string_view kFurtherNames[] = {"strategy",
                                              "predicted_us",
                                              "registers",
                                              "threads",
                                              "smem_bytes",
                                              "blocks",
                                              "waves",
                                              "last_wave",
                                              "blocks_per_sm",
                                              "warps_per_sm",
                                              "block_depth",
                                              "useful",
                                              "m",
                                              "n",
                                              "k",
                                              "batch",
                                              "vector_a",
                                              "vector_b",
                                              "vector_c",
                                              "a_row_major",
                                              "b_row_major",
                                              "operand_bits",
                                              "sum_bits",
                                              "result_bits",
                                              "math",
                                              "bias",
                                              "activation"};

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
        static_cast<int>(traits.b_row_major), 8 * size_bytes(problem.type),
        8 * size_bytes(spec.accumulator), 8 * size_bytes(result_type(problem)),
        static_cast<int>(problem.math), static_cast<int>(problem.epilogue.bias),
        static_cast<int>(problem.epilogue.activation)})
    features.push_back(static_cast<float>(value));
  return features;
}

std::vector<std::string> candidate_feature_names() {
  std::vector<std::string> names;
  for (const TileField& field : tile_fields()) names.emplace_back(field.name);
  names.insert(names.end(), std::begin(kFurtherNames), std::end(kFurtherNames));
  return names;
}

size_t strategy_feature() {
  return tile_fields().size();
}

}  // namespace gemmtune::tuner
