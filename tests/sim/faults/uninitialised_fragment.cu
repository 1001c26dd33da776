// The accumulator of an mma is never set.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  unsigned a = __float_as_uint(in[threadIdx.x]);
  float c[4];
  if (!kBroken) c[0] = c[1] = c[2] = c[3] = 0;
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a));
  out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
