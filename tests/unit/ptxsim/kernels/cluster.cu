// Blocks of a cluster read one another's shared memory.
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
__device__ unsigned rank() {
  unsigned value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return value;
}
__device__ float load_from(const float* local, unsigned from) {
  const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(local));
  unsigned there;
  float value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(from));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  return value;
}

// out[i] = the element of the next block of the cluster of 4.
template <bool kSyncBefore, bool kSyncAfter>
__device__ void rotate(const float* in, float* out) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  tile[threadIdx.x] = in[i];
  if (kSyncBefore) cluster_sync();
  out[i] = load_from(&tile[threadIdx.x], (rank() + 1) % 4);
  if (kSyncAfter) cluster_sync();
}

extern "C" __global__ void rotate_correct(const float* in, float* out) { rotate<true, true>(in, out); }
extern "C" __global__ void rotate_race(const float* in, float* out) { rotate<false, true>(in, out); }
extern "C" __global__ void rotate_early_end(const float* in, float* out) { rotate<true, false>(in, out); }
