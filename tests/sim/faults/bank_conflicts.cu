// A transpose through a tile of 32 columns: 32 rows of one column share a bank.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[32][kBroken ? 32 : 33];
  for (int row = threadIdx.x / 32; row < 32; row += blockDim.x / 32) {
    tile[row][threadIdx.x % 32] = in[row * 32 + threadIdx.x % 32];
  }
  __syncthreads();
  for (int row = threadIdx.x / 32; row < 32; row += blockDim.x / 32) {
    out[row * 32 + threadIdx.x % 32] = tile[threadIdx.x % 32][row];
  }
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
