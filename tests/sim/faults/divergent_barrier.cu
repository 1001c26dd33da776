// A barrier stands in a branch that a part of a warp takes.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (!kBroken || threadIdx.x % 32 < 16) __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x] + n;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
