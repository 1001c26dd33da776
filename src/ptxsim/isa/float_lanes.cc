#include "ptxsim/isa/float_lanes.h"

#include <cstdint>
#include <cstring>

#include "ptxsim/isa/target_clones.h"

namespace gemmtune::ptxsim {

GEMMTUNE_TARGET_CLONES
void fma_lanes(float* d, const float* a, const float* b, const float* c) {
  float nan = 0;
  constexpr uint32_t kBits = 0x7FFFFFFFU;
  std::memcpy(&nan, &kBits, sizeof nan);
#pragma GCC ivdep
  for (int i = 0; i < 32; ++i) {
    const float value = __builtin_fmaf(a[i], b[i], c[i]);
    d[i] = value != value ? nan : value;
  }
}

GEMMTUNE_TARGET_CLONES
void fma_lanes(double* d, const double* a, const double* b, const double* c) {
#pragma GCC ivdep
  for (int i = 0; i < 32; ++i) d[i] = __builtin_fma(a[i], b[i], c[i]);
}

}  // namespace gemmtune::ptxsim
