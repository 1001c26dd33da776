// An indirect branch takes an entry that its table does not have.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  int result = 0;
  asm volatile(
      "{\nTABLE: .branchtargets ZERO, ONE;\n"
      "brx.idx %1, TABLE;\n"
      "ZERO: mov.s32 %0, 10;\nbra DONE;\n"
      "ONE: mov.s32 %0, 11;\n"
      "DONE:\n}\n"
      : "+r"(result)
      : "r"(threadIdx.x % (kBroken ? 3 : 2)));
  out[threadIdx.x] = in[threadIdx.x] + result;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
