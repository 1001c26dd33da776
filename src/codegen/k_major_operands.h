#pragma once

#include <cstdint>
#include <vector>

#include "codegen/strategy.h"
#include "codegen/wgmma_rules.h"

#include "parts/shared/k_major_lines.h"

// What strategies share on the host that write operands of f32 anew with k contiguous, before their
// main kernel reads what was written (parts/operand/k_major_copy.cuh).

namespace gemmtune::codegen::k_major_operands {

inline constexpr int64_t kMostTiles = int64_t{1} << 31;  // a grid has fewer

KMajorLines lines_of_a(const Problem& problem);
KMajorLines lines_of_b(const Problem& problem);

// Those of the problem as the main kernel sees them, from those of the caller.
KernelTraits k_major(const KernelTraits& traits);

// What launch notes name of the lines of operand `letter`: ld_a, plane_a, entries_a, and tiles_a,
// which blocks write one each (parts/shared/k_major_lines.h).
std::vector<Quantity> quantities_of(char letter);

// Where the copy of operand `letter` lies if it is the first of the workspace.
wgmma::MatrixPlace place_of(const KMajorLines& copy, int64_t batch, char letter);

}  // namespace gemmtune::codegen::k_major_operands
