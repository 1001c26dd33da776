// A block has barriers 0 to 15.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  asm volatile("bar.sync %0;\n" ::"r"(kBroken ? 16 : 15) : "memory");
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
