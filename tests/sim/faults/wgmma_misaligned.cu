// A swizzled matrix begins within a pattern of its swizzle.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(1024) float matrices[1024];
  for (int i = threadIdx.x; i < 1024; i += 128) matrices[i] = 0;
  proxy_fence();
  __syncthreads();
  // 32-byte swizzle: patterns of 256 bytes
  const uint64_t swizzle = uint64_t{3} << 62;
  float d[4] = {in[threadIdx.x], 1, 2, 3};
  wgmma_fence(d);
  multiply(d, swizzle | descriptor(matrices), swizzle | descriptor(matrices + 512 + (kBroken ? 32 : 64)));
  wgmma_commit();
  wgmma_wait();
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
