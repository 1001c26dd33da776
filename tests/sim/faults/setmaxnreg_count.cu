// A register count that setmaxnreg does not have. ptxas finds it as well: the 20 is written into
// the PTX in place of a 32.
#include "hopper.cuh"

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  if (kBroken) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  }
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
