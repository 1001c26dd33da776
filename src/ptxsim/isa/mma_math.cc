#include "ptxsim/isa/mma_math.h"

#include <bit>

#include "ptxsim/decode/half.h"
#include "ptxsim/isa/target_clones.h"

namespace gemmtune::ptxsim {

GEMMTUNE_TARGET_CLONES
void multiply_add(int m, int n, int k, const double (*a)[kMaxMmaK], const double (*b)[kMaxMmaN],
                  double (*d)[kMaxMmaN]) {
  constexpr int kChunk = 8;  // every n is a multiple
  for (int column = 0; column < n; column += kChunk) {
    for (int row = 0; row < m; ++row) {
      double sums[kChunk];
      for (int j = 0; j < kChunk; ++j) sums[j] = d[row][column + j];
      for (int i = 0; i < k; ++i) {
        const double factor = a[row][i];
        for (int j = 0; j < kChunk; ++j) sums[j] += factor * b[i][column + j];
      }
      for (int j = 0; j < kChunk; ++j) d[row][column + j] = sums[j];
    }
  }
}

GEMMTUNE_TARGET_CLONES
void unpack_halves(const uint32_t* pairs, double* low, double* high) {
  for (int part = 0; part < 2; ++part) {
    double* out = part == 0 ? low : high;
    for (int lane = 0; lane < 32; ++lane) {
      out[lane] = static_cast<double>(half_lane(pairs[lane] >> (16 * part) & 0xFFFFU));
    }
  }
}

GEMMTUNE_TARGET_CLONES
void unpack_bfloats(const uint32_t* pairs, double* low, double* high) {
  for (int lane = 0; lane < 32; ++lane) {
    low[lane] = static_cast<double>(float_of(pairs[lane] << 16));
    high[lane] = static_cast<double>(float_of(pairs[lane] & 0xFFFF0000U));
  }
}

}  // namespace gemmtune::ptxsim
