// A warp uses an mbarrier with no barrier after its initialisation by another one.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(&barrier, 64);
  if (!kBroken) __syncthreads();
  arrive(&barrier);
  wait(&barrier, 0);
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
