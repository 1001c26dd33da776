// A small SIMT GEMM that exercises what the project's kernels use: a parameter struct, static and
// dynamic shared memory, cp.async with zero fill, vector accesses, ragged edges.
struct GemmArguments {
  const float* a;  // m x k, row-major
  const float* b;  // k x n, row-major
  float* c;        // m x n, row-major
  int m, n, k;
  long long lda, ldb, ldc;
  float alpha, beta;
};

constexpr int kTileM = 64;
constexpr int kTileN = 64;
constexpr int kTileK = 8;
constexpr int kThreads = 128;
constexpr int kStride = kTileM + 4;  // floats a row of the transposed A tile

__device__ void copy4_async(float* to, const float* from, bool valid) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(from),
               "r"(bytes));
}

extern "C" __global__ void __launch_bounds__(kThreads) sgemm(const __grid_constant__ GemmArguments g) {
  extern __shared__ __align__(16) float a_tile[];  // kTileK x kStride
  __shared__ __align__(16) float b_tile[kTileK][kTileN];
  const int m0 = blockIdx.y * kTileM;
  const int n0 = blockIdx.x * kTileN;
  const int row = threadIdx.x / 16 * 8;
  const int column = threadIdx.x % 16 * 4;
  float sums[8][4] = {};
  for (int k0 = 0; k0 < g.k; k0 += kTileK) {
    for (int i = threadIdx.x; i < kTileM * kTileK; i += kThreads) {
      const int r = i / kTileK;
      const int c = i % kTileK;
      const bool valid = m0 + r < g.m && k0 + c < g.k;
      copy4_async(&a_tile[c * kStride + r], valid ? g.a + (m0 + r) * g.lda + k0 + c : g.a, valid);
    }
    asm volatile("cp.async.commit_group;\n");
    const int br = threadIdx.x / 16;
    const int bc = threadIdx.x % 16 * 4;
    float4 value = make_float4(0, 0, 0, 0);
    if (k0 + br < g.k) {
      const float* from = g.b + (k0 + br) * g.ldb + n0 + bc;
      if (n0 + bc + 3 < g.n && g.ldb % 4 == 0) {
        value = *reinterpret_cast<const float4*>(from);
      } else {
        if (n0 + bc + 0 < g.n) value.x = from[0];
        if (n0 + bc + 1 < g.n) value.y = from[1];
        if (n0 + bc + 2 < g.n) value.z = from[2];
        if (n0 + bc + 3 < g.n) value.w = from[3];
      }
    }
    *reinterpret_cast<float4*>(&b_tile[br][bc]) = value;
    asm volatile("cp.async.wait_group 0;\n");
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTileK; ++k) {
      float a[8];
      float b[4];
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = a_tile[k * kStride + row + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) b[j] = b_tile[k][column + j];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = m0 + row + i;
      const int c = n0 + column + j;
      if (r >= g.m || c >= g.n) continue;
      float* out = g.c + r * g.ldc + c;
      float value = g.alpha * sums[i][j];
      if (g.beta != 0) value += g.beta * *out;
      *out = value;
    }
  }
}
