// Tensor-core kernels: one 16 x 8 tile of C a warp through ldmatrix and mma.sync, and one 16 x 16
// tile through wmma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// c (16 x 8, f32) = a (16 x 16) * b (16 x 8), both row-major: b through ldmatrix.trans.
template <bool kBfloat>
__device__ void mma_16816(const unsigned short* a, const unsigned short* b, float* c) {
  __shared__ __align__(16) unsigned short a_tile[16 * 16];
  __shared__ __align__(16) unsigned short b_tile[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) a_tile[i] = a[i];
  for (int i = lane; i < 128; i += 32) b_tile[i] = b[i];
  __syncwarp();
  unsigned fa[4], fb[2];
  float fc[4] = {0, 0, 0, 0};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(shared_address(&a_tile[(lane % 16) * 16 + lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(shared_address(&b_tile[(lane % 16) * 8])));
  if (kBfloat) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(fc[0]), "+f"(fc[1]), "+f"(fc[2]), "+f"(fc[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(fc[0]), "+f"(fc[1]), "+f"(fc[2]), "+f"(fc[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  }
  for (int i = 0; i < 4; ++i) {
    c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = fc[i];
  }
}

extern "C" __global__ void mma_f16(const unsigned short* a, const unsigned short* b, float* c) {
  mma_16816<false>(a, b, c);
}
extern "C" __global__ void mma_bf16(const unsigned short* a, const unsigned short* b, float* c) {
  mma_16816<true>(a, b, c);
}

// c (16 x 8) = a (16 x 8) * b (8 x 8), f32 in memory, tf32 in the unit.
extern "C" __global__ void mma_tf32(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x;
  const int g = lane / 4;
  const int t = lane % 4;
  const float values[6] = {a[g * 8 + t],           a[(g + 8) * 8 + t], a[g * 8 + t + 4],
                           a[(g + 8) * 8 + t + 4], b[t * 8 + g],       b[(t + 4) * 8 + g]};
  unsigned f[6];
  for (int i = 0; i < 6; ++i) {
    asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(f[i]) : "f"(values[i]));
  }
  float fc[4] = {0, 0, 0, 0};
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(fc[0]), "+f"(fc[1]), "+f"(fc[2]), "+f"(fc[3])
      : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(f[4]), "r"(f[5]));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = fc[i];
}

// c (16 x 16) = 2 * a * b + c, everything row-major, a through shared memory.
template <class T>
__device__ void wmma_tile(const T* a, const T* b, float* c) {
  using namespace nvcuda;
  __shared__ __align__(32) T a_tile[16 * 24];
  for (int i = threadIdx.x; i < 256; i += 32) a_tile[i / 16 * 24 + i % 16] = a[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::load_matrix_sync(fa, a_tile, 24);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(old, c, 16, wmma::mem_row_major);
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, fa, fb, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = 2 * sum.x[i] + old.x[i];
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void wmma_f16(const __half* a, const __half* b, float* c) {
  wmma_tile(a, b, c);
}
extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  wmma_tile(a, b, c);
}
