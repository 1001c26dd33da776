// A kernel parameter is read past its end.
// The compiler must not see where the pointer leads.
template <class T>
__device__ T* hidden(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

template <bool kBroken>
__device__ void body(float* out, const int* n) {
  const int* parameter = hidden(n);
  out[threadIdx.x] = parameter[kBroken ? 1 : 0];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch,
                                  const __grid_constant__ int n) {
  body<true>(out, &n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch,
                                   const __grid_constant__ int n) {
  body<false>(out, &n);
}
