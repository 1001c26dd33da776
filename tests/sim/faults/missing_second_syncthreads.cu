// A tile is filled again while other warps may still read it.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    tile[threadIdx.x] = in[threadIdx.x] + k;
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    if (!kBroken) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
