// C (m x n, f32) = A (m x k, row-major) * B (n x k, row-major)^T, all bf16: the shape of a Hopper
// kernel. A producer warp fills stages by TMA, two warpgroups multiply them and give them back.
//
//   full[s]   one arrival and the bytes of a stage
//   empty[s]  one arrival by each consuming warp
#include <cstdint>

namespace {

constexpr int kTileM = 128;
constexpr int kTileN = 128;
constexpr int kTileK = 64;  // 128 bytes: one atom of the swizzle
constexpr int kStages = 3;
constexpr uint32_t kABytes = kTileM * kTileK * 2;
constexpr uint32_t kBBytes = kTileN * kTileK * 2;
constexpr uint32_t kStageBytes = kABytes + kBBytes;

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void init(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ void expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}
__device__ void load(uint32_t to, const void* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ uint64_t descriptor(uint32_t address) {
  // 128-byte swizzle, 1024 bytes between groups of 8 rows
  return uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{1} << 16 | (address & 0x3FFFF) >> 4;
}

#define R4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(d, i) R4(d, i), R4(d, i + 4), R4(d, i + 8), R4(d, i + 12)

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}"
      : R16(d, 0), R16(d, 16), R16(d, 32), R16(d, 48)
      : "l"(a), "l"(b), "r"(adds));
}

struct alignas(64) Map {
  char bytes[128];
};

}  // namespace

extern "C" __global__ void __launch_bounds__(384)
    gemm(const __grid_constant__ Map a_map, const __grid_constant__ Map b_map, float* c, int n, int k) {
  extern __shared__ __align__(1024) char stages[];
  __shared__ __align__(8) uint64_t barriers[2 * kStages];
  const uint32_t base = shared_address(stages);
  const uint32_t full = shared_address(barriers);
  const uint32_t empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(full + 8 * s, 1);
      init(empty + 8 * s, 8);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int steps = k / kTileK;
  const int group = threadIdx.x / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (int i = 0; i < steps; ++i) {
        const int s = i % kStages;
        wait(empty + 8 * s, (i / kStages & 1) ^ 1);
        expect(full + 8 * s, kStageBytes);
        const uint32_t to = base + s * kStageBytes;
        load(to, &a_map, i * kTileK, blockIdx.y * kTileM, full + 8 * s);
        load(to + kABytes, &b_map, i * kTileK, blockIdx.x * kTileN, full + 8 * s);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64];
  for (int i = 0; i < 64; ++i) d[i] = 0;
  for (int i = 0; i < steps; ++i) {
    const int s = i % kStages;
    wait(full + 8 * s, i / kStages & 1);
    for (int r = 0; r < 64; ++r) asm volatile("" : "+f"(d[r])::"memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    const uint64_t a = descriptor(base + s * kStageBytes + (group - 1) * 64 * kTileK * 2);
    const uint64_t b = descriptor(base + s * kStageBytes + kABytes);
#pragma unroll
    for (int step = 0; step < 4; ++step) multiply(d, a + 2 * step, b + 2 * step, i > 0 || step > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int r = 0; r < 64; ++r) asm volatile("" : "+f"(d[r])::"memory");
    if (threadIdx.x % 32 == 0) arrive(empty + 8 * s);
  }
  const int row = blockIdx.y * kTileM + (group - 1) * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  const int column = blockIdx.x * kTileN + threadIdx.x % 4 * 2;
  for (int i = 0; i < 64; ++i) {
    c[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = d[i];
  }
}
