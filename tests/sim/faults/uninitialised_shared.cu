// The ragged end of a tile is not filled with zeros.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  const int filled = static_cast<int>(in[0] * 0) + 50;
  if (threadIdx.x < filled) {
    tile[threadIdx.x] = in[threadIdx.x];
  } else if (!kBroken) {
    tile[threadIdx.x] = 0;
  }
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
