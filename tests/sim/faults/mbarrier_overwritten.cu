// A copy is longer than its stage, and overwrites the mbarrier behind it.
#include "hopper.cuh"

struct Stage {
  float tile[64];
  uint64_t barrier;
};

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) Stage stage[2];
  const int bytes = kBroken ? 272 : 256;
  if (threadIdx.x == 0) init(&stage[0].barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&stage[0].barrier, bytes);
    load(stage[0].tile, in, bytes, &stage[0].barrier);
  }
  wait(&stage[0].barrier, 0);
  out[threadIdx.x] = stage[0].tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
