// A select takes the register that nobody has set.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  float result;
  asm volatile(
      "{\n.reg .f32 unset;\n.reg .pred p;\nsetp.ge.f32 p, %1, %2;\nselp.f32 %0, %1, unset, p;\n}\n"
      : "=f"(result)
      : "f"(in[threadIdx.x]), "f"(kBroken ? 1.0f : 0.0f));
  out[threadIdx.x] = result;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
