#pragma once

#include <algorithm>
#include <array>

#include "codegen/strategy.h"
#include "codegen/tiling.h"

namespace gemmtune::codegen {

inline constexpr std::string_view kTmaCopyText = R"(#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"

namespace gemmtune {

// C = A, where k is n: a TMA copy fills a block's tile, its threads write it out.
template <TileConfig kTile, KernelTraits kTraits>
struct TmaCopy {
  static constexpr int kThreads = 128;
  static constexpr int kSmemBytes = kTile.tile_m * kTile.tile_n * 4;

  static __device__ void run(const GemmArgs& args, const TensorMap& a) {
    extern __shared__ __align__(128) float tile[];
    __shared__ alignas(8) unsigned long long barrier_word;
    const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&barrier_word));
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    const int columns = (args.n + kTile.tile_n - 1) / kTile.tile_n;
    const int row = static_cast<int>(blockIdx.x) / columns * kTile.tile_m;
    const int column = static_cast<int>(blockIdx.x) % columns * kTile.tile_n;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(kSmemBytes));
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
          " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
          "l"(&a), "r"(column), "r"(row), "r"(barrier)
          : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
          " selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(barrier)
          : "memory");
    }
    float* const c = static_cast<float*>(args.c);
    for (int i = threadIdx.x; i < kTile.tile_m * kTile.tile_n; i += kThreads) {
      const int m = row + i / kTile.tile_n;
      const int n = column + i % kTile.tile_n;
      if (m < args.m && n < args.n) c[m * args.ldc + n] = tile[i];
    }
  }
};

}  // namespace gemmtune
)";

// A strategy that is not part of the program: architecture-specific code, and a tensor map as
// argument.
class TmaCopy final : public Strategy {
 public:
  std::string_view name() const override { return "tma_copy"; }
  std::string_view summary() const override { return "copies A to C by TMA"; }
  std::string_view template_file() const override { return "tma_copy.cuh"; }
  std::string_view template_name() const override { return "TmaCopy"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return kRules; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (capability.major == 9 && problem.type == DataType::f32) return {};
    return make_error(ErrorKind::unsupported, "needs sm_90, and computes f32 only");
  }
  Arch code_arch(Arch capability) const override { return specific_to(capability); }
  int threads(const TileConfig&) const override { return 128; }
  int smem_bytes(const KernelSpec& spec) const override {
    return spec.tile.tile_m * spec.tile.tile_n * 4;
  }
  int estimated_registers(const KernelSpec&) const override { return 32; }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    entries.front().parameters = {ParameterKind::gemm, ParameterKind::tensor_map};
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = Strategy::launch_plan(spec, problem);
    TensorMapArgument map;
    map.extent_formulas = {"k", "m"};
    map.stride_formulas = {"4 * lda"};
    map.config.extent = {static_cast<uint64_t>(problem.shape.k),
                         static_cast<uint64_t>(problem.shape.m)};
    map.config.stride_bytes = {static_cast<uint64_t>(problem.lda) * 4};
    map.config.box = {static_cast<uint32_t>(spec.tile.tile_n),
                      static_cast<uint32_t>(spec.tile.tile_m)};
    plan.launches.front().arguments = {GemmArgument{}, map};
    return plan;
  }

  std::string_view file_text(std::string_view path) const override {
    return path == template_file() ? kTmaCopyText : Strategy::file_text(path);
  }

 private:
  static constexpr std::array<std::string_view, 2> kParameters = {"tile_m", "tile_n"};
  static constexpr std::array kRules = {
      Rule{"rows of 16 bytes", "TMA moves no less",
           [](const RuleInput& in) { return in.spec.tile.tile_n % 4 == 0; }},
  };
};

inline const Strategy& tma_copy() {
  static const TmaCopy strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
