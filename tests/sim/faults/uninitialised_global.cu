// A workspace is added to that nobody has cleared.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  const int i = threadIdx.x;
  if (!kBroken) scratch[i] = 0;
  scratch[i] += in[i];
  out[i] = scratch[i];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
