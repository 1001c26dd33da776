// Sums of a wgmma are read before its group was waited for.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float matrices[(kABytes + kBBytes) / 4];
  for (int i = threadIdx.x; i < (kABytes + kBBytes) / 4; i += 128) matrices[i] = 0;
  proxy_fence();
  __syncthreads();
  const uint64_t a = descriptor(matrices);
  const uint64_t b = descriptor(matrices + kABytes / 4);
  float d[4] = {in[threadIdx.x], 1, 2, 3};
  wgmma_fence(d);
  multiply(d, a, b);
  wgmma_commit();
  if (!kBroken) wgmma_wait();
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
  wgmma_wait();
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
