#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "parts/shared/k_major_lines.h"
#include "sim_kernel.h"

// What the kernels of tf32 whose producer warps load an operand are checked for alike. Of two
// operands that need it, threads load A with tiles `of_a` and B with tiles `of_b`.

namespace gemmtune::tuner {

using TilesOfCases = std::array<const char*, 3>;

inline codegen::KernelSpec direct_tf32_kernel(std::string_view strategy, std::string_view tile,
                                              const KernelTraits& traits) {
  return spec_of(strategy, tile, traits, DataType::f32, DataType::f32, MathMode::tf32, kSm90a);
}

inline Problem tf32_problem(const Shape& shape, std::string_view layout) {
  Problem problem = make_problem(shape, DataType::f32, *parse_layout(layout));
  problem.math = MathMode::tf32;
  return problem;
}

// Operands of which nothing, a pair or all is aligned. kernel(tile, traits) is the one of a tile.
template <class Kernel>
void check_layouts_and_alignments(const Kernel& kernel, const TilesOfCases& of_a,
                                  const TilesOfCases& of_b) {
  constexpr int kWidths[][2] = {{4, 4}, {1, 4}, {4, 2}, {2, 1}};
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const auto& [width_a, width_b] : kWidths) {
        const KernelTraits traits{a, b, width_a, width_b, way % 2 == 0 ? 1 : 4};
        if (needs_k_major_a(traits))
          check_quick_cases(kernel(of_a.at(way % of_a.size()), traits), kSm90a);
        if (needs_k_major_b(traits))
          check_quick_cases(kernel(of_b.at(way % of_b.size()), traits), kSm90a);
        ++way;
      }
    }
  }
}

template <class Kernel>
void check_biases_and_activations(const Kernel& kernel, const TilesOfCases& of_b) {
  for (const Epilogue epilogue :
       {Epilogue{kBiasPerColumn, kGeluTanh}, Epilogue{kBiasPerRow, kSilu}}) {
    KernelTraits traits{true, true, 4, 1, 4};
    traits.epilogue = epilogue;
    check_quick_cases(kernel(of_b[2], traits), kSm90a);
    traits.vector_c = 1;
    check_quick_cases(kernel(of_b[0], traits), kSm90a);
  }
}

}  // namespace gemmtune::tuner
