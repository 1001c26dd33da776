// Two warps come to one barrier, for different numbers of threads.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  const int threads = kBroken && threadIdx.x >= 32 ? 32 : 64;
  asm volatile("bar.sync 1, %0;\n" ::"r"(threads) : "memory");
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
