// Four bytes of a local array are read at an address that is no multiple of 4.
// The compiler must not see where the pointer leads.
template <class T>
__device__ T* hidden(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  float local[4] = {in[threadIdx.x], 1, 2, 3};
  const char* bytes = reinterpret_cast<const char*>(hidden(local));
  out[threadIdx.x] = *reinterpret_cast<const float*>(bytes + (kBroken ? 6 : 4));
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
