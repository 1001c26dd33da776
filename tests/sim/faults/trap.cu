// The kernel finds its own precondition broken.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  if (kBroken && n > 0) __trap();
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
