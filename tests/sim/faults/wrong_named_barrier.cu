// A consumer warp waits at a named barrier that the producer does not arrive at.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    tile[lane] = in[lane];
    asm volatile("bar.arrive 1, 64;\n" ::: "memory");
  } else {
    if (kBroken) {
      asm volatile("bar.sync 2, 64;\n" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;\n" ::: "memory");
    }
    out[lane] = tile[31 - lane];
  }
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
