// cp.async is asked to read more bytes than it writes.
template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  __shared__ float tile[64];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]))),
               "l"(&in[threadIdx.x]), "r"(kBroken ? 8 : 4)
               : "memory");
  asm volatile("cp.async.wait_all;\n" ::: "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
