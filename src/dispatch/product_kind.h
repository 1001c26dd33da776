#pragma once

#include <cstdint>

#include "core/problem.h"

namespace gemmtune::dispatch {

// Whether two problems have the same layout, math mode, sums and alignment class, and types as
// wide: kernels for one of them are kernels for the other but for sizes and epilogue.
bool same_kind(const Problem& a, const Problem& b);

// Whether a product is of 16-bit types, or of f32 that is computed as such.
bool is_of_16_bits(const Problem& problem);
bool is_plain_f32_or_16_bits(const Problem& problem);

// Whether rows and batch entries of two problems begin on multiples of as many bytes, up to
// `widest`; of A and B alone.
bool same_row_alignments(const Problem& a, const Problem& b, int64_t widest);
bool same_operand_alignments(const Problem& a, const Problem& b, int64_t widest);

// The bytes that rows of C begin on multiples of, up to `widest`.
int64_t alignment_of_c_rows(const Problem& problem, int64_t widest);

// Products of no more rows wait for their weights.
inline constexpr int64_t kFewRows = 128;

// Products with more rows and more columns compute for longer than they read.
inline constexpr int64_t kMostReadOnce = 256;

// Whether a product reads A once, as others read weights: it has fewer columns than rows, and no
// more than kMostReadOnce. Of types in which such products were measured.
bool has_few_columns(const Problem& problem);

// The sides of C: the one that is few, and the other one. Rows are few but where columns are; of
// another problem's C those that lie as a problem's do.
struct Sides {
  int64_t few;
  int64_t many;
};
Sides sides(const Problem& problem);
Sides sides_as(const Problem& problem, const Shape& other);

// How far apart two sizes are: 1 for twice as large or half as large.
double factors_of_two(int64_t a, int64_t b);

// Whether cuBLASLt was seen to have tiles of so many rows only, so that as many of them take it
// about as long, full or not (docs/decisions/0035-edges-for-other-rows.md).
inline constexpr int64_t kLargeVendorTileRows = 128;
bool has_large_vendor_tiles(const Problem& problem);

}  // namespace gemmtune::dispatch
