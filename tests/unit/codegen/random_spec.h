#pragma once

#include <random>

#include "codegen/search_space.h"
#include "codegen/strategy.h"

namespace gemmtune::codegen {

// A legal candidate of the strategy's space, chosen by `random`.
inline KernelSpec random_legal(const Strategy& strategy, const KernelTraits& traits,
                               const DeviceSpec& device, std::mt19937& random) {
  const SearchSpace space = *default_search_space(strategy);
  while (true) {
    const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
    const KernelSpec spec{&strategy, space.at(index), traits, DataType::f32};
    if (broken_rule(spec, device) == nullptr) return spec;
  }
}

inline KernelTraits random_traits(std::mt19937& random) {
  const auto width = [&] { return 1 << (random() % 3); };
  return {random() % 2 == 0, random() % 2 == 0, width(), width(), width()};
}

}  // namespace gemmtune::codegen
