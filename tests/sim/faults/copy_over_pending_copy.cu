// Two asynchronous copies into the same bytes, the first not waited for.
__device__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
__device__ void commit_and_wait() {
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n" ::: "memory");
}

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  copy_async(&tile[threadIdx.x], &in[threadIdx.x]);
  if (!kBroken) commit_and_wait();
  copy_async(&tile[threadIdx.x], &in[threadIdx.x + 64]);
  commit_and_wait();
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
