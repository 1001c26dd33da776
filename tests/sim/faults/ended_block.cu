// A block reads the shared memory of one of its cluster that has ended.
// Needs sm_90.
#include <cooperative_groups.h>

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  const auto cluster = cooperative_groups::this_cluster();
  volatile float* flag = scratch + 63;
  tile[threadIdx.x] = in[threadIdx.x];
  if (cluster.block_rank() == 1) *flag = 0;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    if (kBroken) {
      if (threadIdx.x == 0) *flag = 1;
      return;
    }
  } else {
    while (kBroken && *flag == 0) {
    }
    out[threadIdx.x] = cluster.map_shared_rank(tile, 0)[threadIdx.x];
  }
  cluster.sync();
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
