// Constant memory is written.
__constant__ float table[4] = {1, 2, 3, 4};

// The compiler must not see where the pointer leads.
template <class T>
__device__ T* hidden(T* pointer) {
  asm volatile("" : "+l"(pointer));
  return pointer;
}

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  float copy[4] = {1, 2, 3, 4};
  float* to = kBroken ? hidden(table) : hidden(copy);
  to[1] = in[threadIdx.x];
  out[threadIdx.x] = table[2] + copy[1];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
