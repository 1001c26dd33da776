// Half a warp arrives at the aligned barrier of the cluster.
// Needs sm_90.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  if (!kBroken || threadIdx.x % 32 < 16)
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" ::: "memory");
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
