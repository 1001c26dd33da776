#include "dispatch/product_kind.h"

#include <algorithm>
#include <cmath>

#include "parts/shared/block_scales.h"

namespace gemmtune::dispatch {
namespace {

// The bytes that all multiples of so many elements are multiples of, up to `widest`.
int64_t alignment(int64_t elements, DataType type, int64_t widest) {
  const int64_t bytes = elements * size_bytes(type);
  return std::min(bytes & -bytes, widest);
}

// Whether multiples of x elements are multiples of as many bytes as those of y, up to `widest`.
bool same_alignment(int64_t x, int64_t y, DataType type, int64_t widest) {
  return x == y || (x != 0 && y != 0 && alignment(x, type, widest) == alignment(y, type, widest));
}

}  // namespace

bool same_kind(const Problem& a, const Problem& b) {
  return a.layout == b.layout && a.math == b.math && a.accumulator == b.accumulator &&
         a.align_bytes == b.align_bytes && size_bytes(a.type) == size_bytes(b.type) &&
         size_bytes(result_type(a)) == size_bytes(result_type(b));
}

bool is_of_16_bits(const Problem& problem) {
  return size_bytes(problem.type) == 2;
}

bool is_plain_f32_or_16_bits(const Problem& problem) {
  return is_of_16_bits(problem) || is_plain_f32(problem);
}

bool same_row_alignments(const Problem& a, const Problem& b, int64_t widest) {
  return same_operand_alignments(a, b, widest) &&
         same_alignment(a.ldc, b.ldc, result_type(a), widest) &&
         same_alignment(a.stride_c, b.stride_c, result_type(a), widest);
}

bool same_operand_alignments(const Problem& a, const Problem& b, int64_t widest) {
  const auto same = [&](int64_t Problem::*elements) {
    return same_alignment(a.*elements, b.*elements, a.type, widest);
  };
  return same(&Problem::lda) && same(&Problem::ldb) && same(&Problem::stride_a) &&
         same(&Problem::stride_b);
}

int64_t alignment_of_c_rows(const Problem& problem, int64_t widest) {
  return alignment(problem.ldc, result_type(problem), widest);
}

bool has_few_columns(const Problem& p) {
  return is_plain_f32_or_16_bits(p) && p.shape.n <= kMostReadOnce && p.shape.n < p.shape.m;
}

Sides sides(const Problem& problem) {
  return sides_as(problem, problem.shape);
}

Sides sides_as(const Problem& problem, const Shape& other) {
  return has_few_columns(problem) ? Sides{other.n, other.m} : Sides{other.m, other.n};
}

double factors_of_two(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

bool has_large_vendor_tiles(const Problem& problem) {
  const Scale scale = problem.epilogue.scale;
  return scale == kScalePerRow || has_block_scales(scale);
}

}  // namespace gemmtune::dispatch
