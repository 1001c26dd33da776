// An atomic adds to what nobody has written.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  if (!kBroken) scratch[threadIdx.x] = 0;
  atomicAdd(&scratch[threadIdx.x], in[threadIdx.x]);
  out[threadIdx.x] = scratch[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
