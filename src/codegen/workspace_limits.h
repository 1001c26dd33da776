#pragma once

#include <cstdint>

#include "core/arch.h"
#include "core/problem.h"

// The most workspace that kernels may need and still be tried.

namespace gemmtune::codegen {

inline constexpr int64_t kMostCopiesBytes = int64_t{512} << 20;  // aligned copies of operands
inline constexpr int64_t kMostPlanesBytes = int64_t{1} << 30;    // operands as sums of planes

// Bytes that a search on `arch` gives the candidates for a problem, as much as those may need that
// are worthwhile.
int64_t candidate_workspace_bytes(const Problem& problem, Arch arch);

}  // namespace gemmtune::codegen
