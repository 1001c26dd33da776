#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/strategy.h"

#include "parts/shared/k_major_lines.h"

// What strategies share on the host that write operands of f32 anew with k contiguous, before their
// main kernel reads what was written (parts/operand/k_major_copy.cuh).

namespace gemmtune::codegen::k_major_operands {

inline constexpr int64_t kMostTiles = int64_t{1} << 31;  // a grid has fewer
inline constexpr int kVector = 4;                        // elements of 16 bytes

KMajorLines lines_of_a(const Problem& problem);
KMajorLines lines_of_b(const Problem& problem);

// Those of the problem as the main kernel sees them, from those of the caller.
KernelTraits k_major(const KernelTraits& traits);

// What a plan's formulas mean by e and t, where `whose` elements are written.
std::string preamble(std::string_view whose);

}  // namespace gemmtune::codegen::k_major_operands
