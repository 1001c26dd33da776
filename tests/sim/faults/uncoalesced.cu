// Neighbouring lanes read elements that are 32 apart.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = in[kBroken ? i % 32 * 32 + i / 32 : i];
  }
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
