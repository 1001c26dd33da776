// Four bytes of a kernel parameter are read at an address that is no multiple of 4.
// The compiler must not see where the pointer leads.
template <class T>
__device__ T* hidden(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

template <bool kBroken>
__device__ void body(float* out, const int* n) {
  const char* bytes = hidden(reinterpret_cast<const char*>(n));
  out[threadIdx.x] = *reinterpret_cast<const int*>(bytes - (kBroken ? 2 : 0));
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch,
                                  const __grid_constant__ int n) {
  body<true>(out, &n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch,
                                   const __grid_constant__ int n) {
  body<false>(out, &n);
}
