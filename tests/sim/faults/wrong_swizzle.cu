// A tile is stored swizzled and read back plainly: no access is wrong, the result is.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[8][8];
  const int row = threadIdx.x / 8;
  const int column = threadIdx.x % 8;
  tile[row][column ^ row] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[row][kBroken ? column : column ^ row];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
