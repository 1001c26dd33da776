#pragma once

#include <cstdint>

// The most workspace that kernels of a kind may need and still be tried: a search gives its
// candidates as much.

namespace gemmtune::codegen {

inline constexpr int64_t kMostCopiesBytes = int64_t{512} << 20;  // aligned copies of operands
inline constexpr int64_t kMostPlanesBytes = int64_t{1} << 30;    // operands as sums of planes

}  // namespace gemmtune::codegen
