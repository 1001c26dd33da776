// Two stages are loaded; the second is read after a wait for the first.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float tile[2][64];
  __shared__ uint64_t barrier[2];
  if (threadIdx.x == 0) {
    init(&barrier[0], 1);
    init(&barrier[1], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      expect(&barrier[stage], sizeof(tile[stage]));
      load(tile[stage], in + 64 * stage, sizeof(tile[stage]), &barrier[stage]);
    }
    wait(&barrier[1], 0);
  }
  wait(&barrier[kBroken ? 0 : 1], 0);
  out[threadIdx.x] = tile[1][threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
