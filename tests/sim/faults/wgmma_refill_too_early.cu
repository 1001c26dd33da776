// A stage is given back, and filled again, before the wgmma that reads it was waited for.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ __align__(128) float matrices[(kABytes + kBBytes) / 4];
  __shared__ uint64_t full, empty;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, 128);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&full, sizeof(matrices));
    load(matrices, in, sizeof(matrices), &full);
  }
  wait(&full, 0);
  float d[4] = {in[threadIdx.x], 1, 2, 3};
  wgmma_fence(d);
  multiply(d, descriptor(matrices), descriptor(matrices + kABytes / 4));
  wgmma_commit();
  if (!kBroken) wgmma_wait();
  arrive(&empty);
  if (threadIdx.x == 0) {
    wait(&empty, 0);
    expect(&full, sizeof(matrices));
    load(matrices, in, sizeof(matrices), &full);
  }
  wait(&full, 1);
  wgmma_wait();
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
