#pragma once

#include <optional>
#include <random>
#include <vector>

#include "codegen/search_space.h"
#include "codegen/strategy.h"

namespace gemmtune::codegen {

// One that goes with all types of operands of that size.
inline Layout usual_layout(DataType type) {
  if (!is_8_bit(type)) return {};
  return {Order::row_major, Order::column_major, Order::row_major};
}

// 64 x 64 x 64 in each combination of types that the strategy computes on `arch`.
inline std::vector<Problem> kinds_of(const Strategy& strategy, Arch arch) {
  std::vector<Problem> kinds;
  for (const DataType type : all_data_types()) {
    for (const DataType accumulator : {DataType::f32, DataType::f16, DataType::i32}) {
      for (const MathMode math : {MathMode::ieee, MathMode::tf32, MathMode::tf32x3, MathMode::f16,
                                  MathMode::bf16x6, MathMode::bf16x9, MathMode::fast_accum}) {
        Problem problem = make_problem({64, 64, 64}, type, usual_layout(type));
        problem.accumulator = accumulator;
        problem.math = math;
        if (validate(problem) && strategy.supports(problem, arch)) kinds.push_back(problem);
      }
    }
  }
  return kinds;
}

// sm_80, or the first arch that the strategy computes anything on.
inline Arch arch_for(const Strategy& strategy) {
  const Arch usual = {8, 0, false};
  if (!kinds_of(strategy, usual).empty()) return usual;
  for (const Arch arch : known_archs()) {
    if (!kinds_of(strategy, arch).empty()) return arch;
  }
  return usual;
}

// A legal candidate of the strategy's space, chosen by `random`, of the types of `kind`; nothing
// where so many draws find none, since it has none for such operands.
inline std::optional<KernelSpec> random_legal(const Strategy& strategy, const Problem& kind,
                                              const KernelTraits& traits, const DeviceSpec& device,
                                              std::mt19937& random) {
  const SearchSpace space = *default_search_space(strategy);
  KernelSpec spec{&strategy, {}, traits, kind.type, kind.accumulator, kind.math};
  spec.arch = strategy.code_arch(device.arch);
  constexpr int kDraws = 200'000;
  for (int draw = 0; draw < kDraws; ++draw) {
    spec.tile = space.at(std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random));
    if (broken_rule(spec, device) == nullptr) return spec;
  }
  return std::nullopt;
}

// The same of any types that the strategy computes on the device; there must be some.
inline std::optional<KernelSpec> random_legal(const Strategy& strategy, const KernelTraits& traits,
                                              const DeviceSpec& device, std::mt19937& random) {
  const auto kinds = kinds_of(strategy, device.arch);
  return random_legal(strategy, kinds.at(random() % kinds.size()), traits, device, random);
}

// Any storage orders, and any widths of up to 16 bytes.
inline KernelTraits random_traits(std::mt19937& random, DataType type = DataType::f32) {
  const auto width = [&](DataType of) {
    const unsigned widths = size_bytes(of) == 4 ? 3 : size_bytes(of) == 2 ? 4 : 5;
    return 1 << (random() % widths);
  };
  const bool a = random() % 2 == 0;
  const bool b = random() % 2 == 0;
  const int vector_a = width(type);
  const int vector_b = width(type);
  return {a, b, vector_a, vector_b, width(usual_result(type))};
}

// Any orders and widths, of the types of `kind`.
inline KernelSpec random_kernel(const Strategy& strategy, const Problem& kind,
                                const DeviceSpec& device, std::mt19937& random) {
  const SearchSpace space = *default_search_space(strategy);
  while (true) {
    const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
    KernelSpec spec{&strategy, space.at(index),  random_traits(random, kind.type),
                    kind.type, kind.accumulator, kind.math};
    spec.arch = strategy.code_arch(device.arch);
    if (broken_rule(spec, device) == nullptr) return spec;
  }
}

// The same of any types that the strategy computes on the device; there must be some.
inline KernelSpec random_kernel(const Strategy& strategy, const DeviceSpec& device,
                                std::mt19937& random) {
  const auto kinds = kinds_of(strategy, device.arch);
  return random_kernel(strategy, kinds.at(random() % kinds.size()), device, random);
}

}  // namespace gemmtune::codegen
