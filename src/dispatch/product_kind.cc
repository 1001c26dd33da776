#include "dispatch/product_kind.h"

#include <algorithm>
#include <cmath>

#include "parts/shared/block_scales.h"

namespace gemmtune::dispatch {
namespace {

// Whether multiples of x elements are multiples of as many bytes as those of y, up to `widest`.
bool same_alignment(int64_t x, int64_t y, DataType type, int64_t widest) {
  const auto alignment = [&](int64_t elements) {
    const int64_t bytes = elements * size_bytes(type);
    return std::min(bytes & -bytes, widest);
  };
  return x == y || (x != 0 && y != 0 && alignment(x) == alignment(y));
}

}  // namespace

bool same_kind(const Problem& a, const Problem& b) {
  return a.layout == b.layout && a.math == b.math && a.accumulator == b.accumulator &&
         a.align_bytes == b.align_bytes && size_bytes(a.type) == size_bytes(b.type) &&
         size_bytes(result_type(a)) == size_bytes(result_type(b));
}

bool same_row_alignments(const Problem& a, const Problem& b, int64_t widest) {
  const auto same = [&](int64_t Problem::*elements, DataType type) {
    return same_alignment(a.*elements, b.*elements, type, widest);
  };
  const DataType c = result_type(a);
  return same(&Problem::lda, a.type) && same(&Problem::ldb, a.type) && same(&Problem::ldc, c) &&
         same(&Problem::stride_a, a.type) && same(&Problem::stride_b, a.type) &&
         same(&Problem::stride_c, c);
}

double factors_of_two(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

bool has_large_vendor_tiles(const Problem& problem) {
  const Scale scale = problem.epilogue.scale;
  return scale == kScalePerRow || has_block_scales(scale);
}

}  // namespace gemmtune::dispatch
