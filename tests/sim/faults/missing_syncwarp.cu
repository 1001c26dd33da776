// Lanes of one warp exchange data through shared memory with no __syncwarp.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!kBroken) __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
