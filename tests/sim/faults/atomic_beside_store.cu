// An atomic and a plain store meet in the same shared element.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);
  if (!kBroken) __syncthreads();
  if (threadIdx.x == 33) sum = 5;
  __syncthreads();
  out[threadIdx.x] = sum;
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
