// The lanes give one wmma.load different addresses.
#include <mma.h>

template <bool kBroken>
__device__ void body(const float* in, float* out, float* scratch, int n) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::load_matrix_sync(c, in + (kBroken ? threadIdx.x % 2 * 256 : 0), 16, wmma::mem_row_major);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

extern "C" __global__ void broken(const float* in, float* out, float* scratch, int n) {
  body<true>(in, out, scratch, n);
}
extern "C" __global__ void correct(const float* in, float* out, float* scratch, int n) {
  body<false>(in, out, scratch, n);
}
