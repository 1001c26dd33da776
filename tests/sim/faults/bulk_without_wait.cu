// A block ends while a bulk copy may still write its shared memory.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float tile[64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    init(&barrier, 1);
    expect(&barrier, sizeof(tile));
    load(tile, in, sizeof(tile), &barrier);
    if (!kBroken) wait(&barrier, 0);
  }
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
