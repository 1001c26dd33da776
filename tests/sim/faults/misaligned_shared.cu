// An 8-byte store to shared memory at an address that is no multiple of 8.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[256];
  float* to = &tile[2 * threadIdx.x + (kBroken ? 1 : 0)];
  *reinterpret_cast<float2*>(to) = make_float2(in[threadIdx.x], 0);
  __syncthreads();
  out[threadIdx.x] = tile[2 * threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
