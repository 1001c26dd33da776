// The guard of a store lets one element too many through.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kBroken ? i <= n : i < n) out[i] = 2 * in[i < n ? i : 0];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
