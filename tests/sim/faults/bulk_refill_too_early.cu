// A stage is filled again before its readers have given it back.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ uint64_t empty;
  if (threadIdx.x == 0) init(&empty, 64);
  __shared__ __align__(128) float tile[64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, sizeof(tile));
    load(tile, in, sizeof(tile), &barrier);
  }
  wait(&barrier, 0);
  const float first = tile[threadIdx.x];
  arrive(&empty);
  if (threadIdx.x == 0) {
    if (!kBroken) wait(&empty, 0);
    expect(&barrier, sizeof(tile));
    load(tile, in + 64, sizeof(tile), &barrier);
  }
  wait(&barrier, 1);
  out[threadIdx.x] = first + tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
