// A TMA store reads what threads wrote with no fence between the two proxies.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!kBroken) proxy_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(out, tile, sizeof(tile));
    commit_stores();
    wait_for_stores();
  }
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
