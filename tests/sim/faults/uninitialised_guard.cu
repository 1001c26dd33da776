// A predicate that nobody has set guards a store.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  out[threadIdx.x] = in[threadIdx.x];
  if (kBroken) {
    asm volatile("{\n.reg .pred p;\n@p st.global.f32 [%0], %1;\n}\n" ::"l"(&out[threadIdx.x]),
                 "f"(in[threadIdx.x])
                 : "memory");
  } else {
    asm volatile(
        "{\n.reg .pred p;\nsetp.gt.f32 p, %1, 1.0;\n@p st.global.f32 [%0], %1;\n}\n" ::"l"(
            &out[threadIdx.x]),
        "f"(in[threadIdx.x])
        : "memory");
  }
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
