// Lanes of one warp overwrite what others may still read: the second __syncwarp is missing.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  const float other = tile[threadIdx.x ^ 1];
  if (!kBroken) __syncwarp();
  tile[threadIdx.x] = other;
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
