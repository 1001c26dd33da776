#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

#include "sim_kernel.h"

// Kernels that tell L2 that it need not keep B: they compute the same, and say it of B's copies
// alone.

namespace gemmtune::tuner {
namespace {

// By TMA alone and into a cluster, by cp.async.
struct Kernel {
  const char* strategy;
  const char* tile;
  DataType type;
  const char* copy;  // the instruction that brings both operands
};
constexpr const char* kTma = "cp.async.bulk.tensor.3d.shared";
constexpr const char* kAsync = "cp.async.cg.shared";
constexpr std::array kKernels = {
    Kernel{"wgmma_tma", "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1", DataType::bf16, kTma},
    Kernel{"wgmma_tma",
           "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 cluster_m=2 cluster_n=2",
           DataType::f16, kTma},
    Kernel{"wgmma_split_k",
           "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 slices=2 reduction=2",
           DataType::bf16, kTma},
    Kernel{"mma_multistage",
           "tile_m=32 tile_n=64 tile_k=64 warp_m=16 warp_n=32 stages=2 copy=1 order=1 fragments=1",
           DataType::f16, kAsync},
    Kernel{"mma_split_k",
           "tile_m=16 tile_n=32 tile_k=64 warp_m=16 warp_n=16 stages=3 copy=1 order=1 fragments=1 "
           "groups=2 slices=1",
           DataType::bf16, kAsync},
};

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

codegen::KernelSpec spec_of(const Kernel& kernel, const Problem& problem) {
  return legal(codegen::spec_for(**codegen::find_strategy(kernel.strategy),
                                 *parse_tile(kernel.tile), problem, kSm90a),
               kSm90a);
}

std::string ptx_of(const codegen::KernelSpec& spec) {
  return tuner::ptx_of(codegen::emit(spec), spec.arch);
}

TEST_CASE("products of few rows are right") {
  for (const Kernel& kernel : kKernels) {
    for (const char* layout : {"tnt", "ttt", "ntt"}) {
      const Problem problem = make_problem({16, 136, 144}, kernel.type, *parse_layout(layout));
      const codegen::KernelSpec spec = spec_of(kernel, problem);
      CHECK(spec.traits.b_read_once);
      check_product(spec, problem, Fill::random, 0.5F, spec.arch);
    }
  }
}

TEST_CASE("L2 is told so of B's copies") {
  for (const Kernel& kernel : kKernels) {
    CAPTURE(kernel.strategy);
    CAPTURE(kernel.tile);
    const auto ptx = [&](const Shape& shape) {
      return ptx_of(spec_of(kernel, make_problem(shape, kernel.type, *parse_layout("tnt"))));
    };
    const std::string many = ptx({4096, 4096, 4096});
    CHECK(count(many, "L2::cache_hint") == 0);
    const std::string few = ptx({16, 4096, 4096});
    const size_t told = count(few, "L2::cache_hint");
    CHECK(told > 0);
    CHECK(told < count(few, kernel.copy));
    CHECK(count(few, kernel.copy) == count(many, kernel.copy));
    CHECK(count(ptx({4096, 16, 4096}), "L2::cache_hint") == 0);
  }
}

// Of every copy by cp.async with a policy: what ptxas 13.0 does with another one ends the kernel.
TEST_CASE("with a policy, copies go to addresses that no two threads seem to share") {
  constexpr std::string_view kCopy = "cp.async.cg.shared.global.L2::cache_hint [";
  for (const Kernel& kernel : kKernels) {
    if (kernel.copy != kAsync) continue;
    CAPTURE(kernel.strategy);
    const std::string ptx =
        ptx_of(spec_of(kernel, make_problem({16, 4096, 4096}, kernel.type, *parse_layout("tnt"))));
    size_t copies = 0;
    for (size_t at = ptx.find(kCopy); at != std::string::npos; at = ptx.find(kCopy, at + 1)) {
      const size_t name = at + kCopy.size();
      const std::string to = ptx.substr(name, ptx.find_first_of("]+", name) - name);
      CHECK(count(ptx, "or.b32  \t" + to + ",") == 1);
      ++copies;
    }
    CHECK(copies > 0);
  }
}

TEST_CASE("the long operand of a product by skinny") {
  const Kernel kernel{"skinny",
                      "tile_m=4 tile_n=32 thread_m=4 thread_n=4 warps=4 unroll=4 stages=3 copy=1 "
                      "copy_scope=1 fragments=1 slices=1 min_blocks=1",
                      DataType::f32, kAsync};
  for (const char* layout : {"tnt", "ttt"}) {
    const Problem problem = make_problem({4, 96, 200}, kernel.type, *parse_layout(layout));
    const codegen::KernelSpec spec = spec_of(kernel, problem);
    CHECK(spec.traits.b_read_once);
    CHECK(count(ptx_of(spec), "L2::cache_hint") > 0);
    check_product(spec, problem, Fill::random, 0.5F, spec.arch);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
