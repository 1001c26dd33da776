// A float4 is loaded from an address that is no multiple of 16.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  const float* from = in + 4 * (threadIdx.x % 8) + (kBroken ? 1 : 0);
  const float4 value = *reinterpret_cast<const float4*>(from);
  out[threadIdx.x] = value.x + value.y + value.z + value.w;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
