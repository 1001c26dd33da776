// Two threads arrive at an mbarrier for one while its copies are still to come.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float tile[64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(&barrier, kBroken ? 1 : 2);
  __syncthreads();
  if (threadIdx.x % 32 == 0) expect(&barrier, 128);
  __syncthreads();
  if (threadIdx.x % 32 == 0) load(tile + threadIdx.x, in + threadIdx.x, 128, &barrier);
  wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
