#pragma once

// Where a thread is in a ring of stages: each is filled, multiplied and filled again. Parity is
// that of how often the ring was gone round, as barriers count it (mbarrier.cuh).

namespace gemmtune {

template <int kStages>
struct StageRing {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }

  __device__ __forceinline__ void skip(int count) {
    const int at = stage + count;
    parity ^= static_cast<unsigned>(at / kStages) & 1;
    stage = at % kStages;
  }
};

}  // namespace gemmtune
