// A kernel parameter is written.
// The compiler must not see where the pointer leads.
template <class T>
__device__ T* hidden(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

template <bool kBroken>
__device__ void body(float* out, const int* n) {
  int copy = *n;
  int* to = kBroken ? hidden(const_cast<int*>(n)) : hidden(&copy);
  *to = 7;
  out[threadIdx.x] = *hidden(&copy);
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch,
                                  const __grid_constant__ int n) {
  body<true>(out, &n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch,
                                   const __grid_constant__ int n) {
  body<false>(out, &n);
}
