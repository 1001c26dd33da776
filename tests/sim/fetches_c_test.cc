#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

#include "sim_kernel.h"

// Kernels that fetch what C holds while its tile is multiplied: right with any beta, and wherever
// results pass through on their way to C.

namespace gemmtune::tuner {
namespace {

struct Kernel {
  const char* strategy;
  const char* tile;
  DataType type = DataType::bf16;
  MathMode math = MathMode::ieee;
  const char* layout = "tnt";
};

// More boxes than a warp has buffers, as many, and one; one buffer; turns and persistent grids;
// slabs of exchanged operands; rows that begin anywhere; f32 results and sums that are corrected.
constexpr std::array kKernels = {
    Kernel{"wgmma_tma", "tile_m=64 tile_n=256 tile_k=64 stages=2 consumers=1 persistent_blocks=1"},
    Kernel{"wgmma_tma", "tile_m=64 tile_n=256 tile_k=64 stages=5 consumers=1"},
    Kernel{"wgmma_tma", "tile_m=256 tile_n=128 tile_k=64 stages=3 consumers=2 persistent_blocks=1"},
    Kernel{"wgmma_tma", "tile_m=64 tile_n=32 tile_k=64 stages=3 consumers=1"},
    Kernel{"wgmma_tma",
           "tile_m=64 tile_n=96 tile_k=64 stages=2 consumers=3 schedule=1 persistent_blocks=1"},
    Kernel{"wgmma_tma",
           "tile_m=64 tile_n=32 tile_k=64 stages=3 consumers=2 schedule=1 persistent_blocks=2 "
           "cluster_n=2",
           DataType::f16, MathMode::ieee, "ttt"},
    Kernel{"wgmma_tma",
           "tile_m=32 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 persistent_blocks=1"},
    Kernel{"wgmma_tma", "tile_m=64 tile_n=40 tile_k=128 stages=2 consumers=1", DataType::e4m3},
    Kernel{"wgmma_misaligned",
           "tile_m=128 tile_n=64 tile_k=64 stages=2 consumers=2 persistent_blocks=1"},
    Kernel{"wgmma_k_major", "tile_m=64 tile_n=96 tile_k=32 stages=3 consumers=1", DataType::f32,
           MathMode::tf32, "ttt"},
    Kernel{"wgmma_planes", "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 promotion=8",
           DataType::f32, MathMode::bf16x6},
    Kernel{"wgmma_tf32_planes", "tile_m=64 tile_n=128 tile_k=32 stages=2 consumers=1 promotion=2",
           DataType::f32, MathMode::tf32x3, "ttt"},
    Kernel{
        "double_buffer",
        "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 thread_m=4 thread_n=8 lanes=1 order=1 "
        "copy=1 fragments=1 min_blocks=1",
        DataType::f32, MathMode::ieee, "ttt"}};

Problem problem_of(const Kernel& kernel, const Shape& shape) {
  Problem problem = make_problem(shape, kernel.type, *parse_layout(kernel.layout));
  problem.math = kernel.math;
  if (kernel.math == MathMode::ieee && kernel.type == DataType::e4m3)
    problem.result = DataType::bf16;
  return problem;
}

codegen::KernelSpec spec_of(const Kernel& kernel, const Problem& problem) {
  const codegen::KernelSpec usual =
      legal(codegen::spec_for(**codegen::find_strategy(kernel.strategy), *parse_tile(kernel.tile),
                              problem, kSm90a),
            kSm90a);
  return codegen::fetching_c(usual, representative_device(kSm90a));
}

TEST_CASE("with any beta, C is read as it should be") {
  for (const Kernel& kernel : kKernels) {
    const bool is_misaligned = std::string_view(kernel.strategy) == "wgmma_misaligned";
    const Problem problem =
        problem_of(kernel, is_misaligned ? Shape{131, 133, 129} : Shape{200, 272, 144});
    const codegen::KernelSpec spec = spec_of(kernel, problem);
    CHECK(spec.traits.fetches_c);
    for (const float beta : {0.0F, 0.5F})
      check_product(spec, problem, Fill::random, beta, spec.arch);
    check_quick_cases(spec, spec.arch);
  }
}

TEST_CASE("those of sums that are corrected see C behind a NaN") {
  for (const Kernel& kernel : kKernels) {
    if (kernel.type != DataType::f32) continue;
    const Problem problem = problem_of(kernel, {200, 272, 144});
    const codegen::KernelSpec spec = spec_of(kernel, problem);
    check_product(spec, problem, Fill::special, 0.5F, spec.arch);
  }
}

TEST_CASE("kernels have names of their own, and others are as they were") {
  const Kernel& kernel = kKernels.at(1);  // more boxes than buffers
  const Problem problem = problem_of(kernel, {200, 272, 144});
  const codegen::KernelSpec fetching = spec_of(kernel, problem);
  codegen::KernelSpec usual = fetching;
  usual.traits.fetches_c = false;
  CHECK(codegen::kernel_name(fetching) == codegen::kernel_name(usual) + "_fetches_c");
  CHECK(ptx_of(codegen::emit(fetching), kSm90a).find("bulk.prefetch") != std::string::npos);
  CHECK(ptx_of(codegen::emit(usual), kSm90a).find("bulk.prefetch") == std::string::npos);
}

TEST_CASE("strategies without such kernels take the usual ones") {
  const Problem problem = make_problem({200, 272, 144}, DataType::f16);
  const codegen::KernelSpec spec = codegen::spec_for(
      **codegen::find_strategy("mma_multistage"),
      *parse_tile("tile_m=32 tile_n=64 tile_k=64 warp_m=16 warp_n=32 stages=2 copy=1 order=1 "
                  "fragments=1"),
      problem, kSimArch);
  CHECK_FALSE(codegen::fetching_c(spec, representative_device(kSimArch)).traits.fetches_c);
}

}  // namespace
}  // namespace gemmtune::tuner
