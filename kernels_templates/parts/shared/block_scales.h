#pragma once

#include "parts/shared/epilogue.h"
#include "parts/shared/host_device.h"

// How scales of blocks of 128 values of k lie in memory, as cuBLASLt wants them (its
// CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F and _BLK128x128_32F). A line is a row of op(A) or a
// column of op(B).
//
//     of each line (1x128):         [k / 128][lines, rounded up to 4]
//     of 128 lines each (128x128):  [lines / 128][k / 128, rounded up to 4]

namespace gemmtune {

inline constexpr int kScaleBlock = 128;  // values of k, and lines of a block of 128x128
inline constexpr int kScaleUnit = 4;     // that the contiguous dimension is rounded up to: 16 bytes

GEMMTUNE_HOST_DEVICE constexpr bool has_block_scales(Scale scale) {
  return scale == kScale1x128 || scale == kScale1x128By128x128 || scale == kScale128x128By1x128;
}
// Whether blocks of A or of B have 128 lines.
GEMMTUNE_HOST_DEVICE constexpr bool scales_squares_of_a(Scale scale) {
  return scale == kScale128x128By1x128;
}
GEMMTUNE_HOST_DEVICE constexpr bool scales_squares_of_b(Scale scale) {
  return scale == kScale1x128By128x128;
}
// ... and whether each line has a scale.
GEMMTUNE_HOST_DEVICE constexpr bool scales_lines_of_a(Scale scale) {
  return has_block_scales(scale) && !scales_squares_of_a(scale);
}
GEMMTUNE_HOST_DEVICE constexpr bool scales_lines_of_b(Scale scale) {
  return has_block_scales(scale) && !scales_squares_of_b(scale);
}

// The scales of one operand.
struct BlockScales {
  bool squares;  // of blocks of 128x128
  long long lines;
  long long k;

  GEMMTUNE_HOST_DEVICE constexpr long long blocks(long long values) const {
    return (values + kScaleBlock - 1) / kScaleBlock;
  }
  // From one row of scales to the next.
  GEMMTUNE_HOST_DEVICE constexpr long long stride() const {
    const long long contiguous = squares ? blocks(k) : lines;
    return (contiguous + kScaleUnit - 1) / kScaleUnit * kScaleUnit;
  }
  GEMMTUNE_HOST_DEVICE constexpr long long elements() const {
    return (squares ? blocks(lines) : blocks(k)) * stride();
  }
  GEMMTUNE_HOST_DEVICE constexpr long long index(long long line, long long at_k) const {
    return squares ? line / kScaleBlock * stride() + at_k / kScaleBlock
                   : at_k / kScaleBlock * stride() + line;
  }
};

}  // namespace gemmtune
