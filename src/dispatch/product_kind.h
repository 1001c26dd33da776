#pragma once

#include <cstdint>

#include "core/problem.h"

namespace gemmtune::dispatch {

// Whether two problems have the same layout, math mode, sums and alignment class, and types as
// wide: kernels for one of them are kernels for the other but for sizes and epilogue.
bool same_kind(const Problem& a, const Problem& b);

// Whether rows and batch entries of two problems begin on multiples of as many bytes, up to
// `widest`.
bool same_row_alignments(const Problem& a, const Problem& b, int64_t widest);

// How far apart two sizes are: 1 for twice as large or half as large.
double factors_of_two(int64_t a, int64_t b);

// Whether cuBLASLt was seen to have tiles of so many rows only, so that as many of them take it
// about as long, full or not (docs/decisions/0035-edges-for-other-rows.md).
inline constexpr int64_t kLargeVendorTileRows = 128;
bool has_large_vendor_tiles(const Problem& problem);

}  // namespace gemmtune::dispatch
