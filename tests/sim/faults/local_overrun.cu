// A local array is indexed past its end by some threads.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  float local[8];
  for (int j = 0; j < 8; ++j) local[j] = in[threadIdx.x] * j;
  const int index = static_cast<int>(in[threadIdx.x] * 0) + threadIdx.x % (kBroken ? 9 : 8);
  out[threadIdx.x] = local[index];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
