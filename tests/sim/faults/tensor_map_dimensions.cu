// A copy for three dimensions with a tensor map for two.
#include "hopper.cuh"

struct alignas(64) Map {
  char bytes[128];
};

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n, const Map& map) {
  __shared__ __align__(128) float tile[64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, sizeof(tile));
    if (kBroken) {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
          " [%0], [%1, {%3, %3, %3}], [%2];" ::"r"(shared_address(tile)),
          "l"(&map), "r"(shared_address(&barrier)), "r"(0)
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
          " [%0], [%1, {%3, %3}], [%2];" ::"r"(shared_address(tile)),
          "l"(&map), "r"(shared_address(&barrier)), "r"(0)
          : "memory");
    }
  }
  wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n,
                                  const __grid_constant__ Map map) {
  body<true>(in, out, scratch, n, map);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n,
                                   const __grid_constant__ Map map) {
  body<false>(in, out, scratch, n, map);
}
