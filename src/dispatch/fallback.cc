#include "dispatch/fallback.h"

namespace gemmtune::dispatch {
namespace {

// Tiles of medium size, so that small problems fill some SMs and large ones reuse what they load.
constexpr FallbackKernel kKernels[] = {
    // f32 from sm_80, then before it.
    {"multistage",
     "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=4 thread_n=8 stages=3 lanes=1 "
     "order=1 fragments=2 raster=4"},
    {"double_buffer",
     "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=4 thread_n=8 order=1 fragments=2 "
     "raster=4"},
    // On tensor cores: f16, bf16, tf32 and 3xtf32; then f32 rounded to f16.
    {"mma_multistage",
     "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 order=1 copy=1 fragments=1 "
     "raster=4 promotion=1"},
    {"mma_multistage",
     "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2 order=1 fragments=1 "
     "raster=4 promotion=1"},
    {"wmma", "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 raster=4"},
    // 8-bit types, on sm_90.
    {"wgmma_tma", "tile_m=64 tile_n=64 tile_k=128 stages=4 raster=4 consumers=1"},
    {"wgmma_misaligned", "tile_m=64 tile_n=64 tile_k=128 stages=4 raster=4 consumers=1"},
    // f32 where nothing else is legal.
    {"naive", "tile_m=8 tile_n=32"},
};

}  // namespace

std::span<const FallbackKernel> fallback_kernels() {
  return kKernels;
}

}  // namespace gemmtune::dispatch
