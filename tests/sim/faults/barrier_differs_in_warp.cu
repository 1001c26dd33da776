// The lanes of one warp name different barriers.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  asm volatile("bar.sync %0;\n" ::"r"(1 + (kBroken ? threadIdx.x % 2 : 0)) : "memory");
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
