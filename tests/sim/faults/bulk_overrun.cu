// A bulk copy reaches beyond the end of shared memory.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float tile[64];
  __shared__ uint64_t barrier;
  const int bytes = kBroken ? 1024 : 256;
  if (threadIdx.x == 0) init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, bytes);
    load(tile, in, bytes, &barrier);
  }
  wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
