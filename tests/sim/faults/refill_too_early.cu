// A stage is refilled by cp.async while other threads may still read it.
__device__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int kGroups>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kGroups) : "memory");
}

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  copy_async(&tile[threadIdx.x], &in[threadIdx.x]);
  commit();
  wait<0>();
  __syncthreads();
  const float first = tile[63 - threadIdx.x];
  if (!kBroken) __syncthreads();
  copy_async(&tile[threadIdx.x], &in[threadIdx.x]);
  commit();
  wait<0>();
  __syncthreads();
  out[threadIdx.x] = first + tile[63 - threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
