#include <fmt/format.h>

#include <array>
#include <string>

#include "sim_kernel.h"

// What is particular to wgmma_stream_k: ranges that begin and end within tiles, sums that blocks
// hand to others, whole tiles beside them, and the faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

codegen::KernelSpec streamed(const std::string& tile, const KernelTraits& traits,
                             DataType type = DataType::bf16, MathMode math = MathMode::ieee) {
  return spec_of("wgmma_stream_k", tile, traits, type, DataType::f32, math, kSm90a);
}

constexpr std::array kWays = {
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks=3",
    "tile_m=128 tile_n=24 tile_k=64 stages=3 consumers=2 sharing_blocks=5 raster=2",
    "tile_m=16 tile_n=64 tile_k=64 stages=3 consumers=1 exchange=1 sharing_blocks=7",
    "tile_m=40 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 sharing_blocks=6 cluster_m=2",
    "tile_m=64 tile_n=32 tile_k=64 stages=3 consumers=1 sharing_blocks=6 cluster_n=2",
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks=12 cluster_m=2 cluster_n=2"};

TEST_CASE("every layout and alignment of C") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 8}) {
        const DataType type = width == 2 ? DataType::f16 : DataType::bf16;
        check_quick_cases(streamed(kWays.at(way++ % kWays.size()), {a, b, 8, 8, width}, type),
                          kSm90a);
      }
    }
  }
}

TEST_CASE("each way, and results of f32") {
  for (const char* tile : kWays) {
    check_quick_cases(streamed(tile, {true, false, 8, 8, 8}), kSm90a);
    auto spec = streamed(tile, {true, true, 8, 8, 4});
    spec.result = DataType::f32;
    check_quick_cases(spec, kSm90a);
  }
}

TEST_CASE("tf32, and 8-bit operands with promoted sums and without") {
  constexpr auto kTf32 = "tile_m=64 tile_n=64 tile_k=32 stages=3 consumers=1 sharing_blocks=5";
  check_quick_cases(streamed(kTf32, {true, false, 4, 4, 4}, DataType::f32, MathMode::tf32), kSm90a);
  constexpr auto kBytes = "tile_m=64 tile_n=64 tile_k=128 stages=2 consumers=1 sharing_blocks=3";
  for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
    auto spec = streamed(kBytes, {true, false, 16, 16, 8}, DataType::e4m3, math);
    spec.result = DataType::bf16;
    check_quick_cases(spec, kSm90a);
  }
}

// Nine tiles of eleven k tiles.
TEST_CASE("ranges of every kind") {
  const Problem problem = make_problem({136, 184, 680}, DataType::bf16, *parse_layout("tnt"));
  for (const int blocks : {
           3,    // whole waves: nothing is shared
           4,    // five tiles are, 13 or 14 k tiles a block, and each has a tile of its own
           7,    // all are, 14 or 15 k tiles a block
           11,   // more blocks than tiles
           20,   // tiles of three blocks
           99,   // one k tile each
           120,  // and blocks without any
       }) {
    const std::string tile =
        fmt::format("tile_m=64 tile_n=64 tile_k=64 stages=3 consumers=1 sharing_blocks={}", blocks);
    for (const float beta : {0.0F, 0.5F}) {
      check_product(streamed(tile, codegen::traits_for(problem)), problem, Fill::random, beta,
                    kSm90a);
    }
  }
}

TEST_CASE("batches with strides, biases, and what C holds fetched ahead") {
  Problem problem = make_problem({72, 200, 160}, DataType::bf16, *parse_layout("ttt"));
  problem.batch = 3;
  problem.epilogue = {kBiasPerColumn, kRelu};
  pack(problem);
  for (const char* tile : {kWays[0], kWays[2], kWays[4]}) {
    for (const bool fetches : {false, true}) {
      auto spec = streamed(tile, codegen::traits_for(problem));
      spec.traits.fetches_c = fetches;
      check_product(spec, problem, Fill::random, 0.5F, kSm90a);
    }
  }
}

TEST_CASE("the order of blocks, warps and copies does not change a bit of the result") {
  const Problem problem = make_problem({128, 64, 640}, DataType::bf16, *parse_layout("tnt"));
  for (const int blocks : {3, 7, 20}) {
    const auto spec = streamed(
        fmt::format("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks={}", blocks),
        codegen::traits_for(problem));
    CHECK(spec.strategy->deterministic(spec));
    check_same_in_any_order(spec, problem, kSm90a);
  }
}

TEST_CASE("it waits for the kernels before it") {
  check_waits(streamed(kWays[0], {true, false, 8, 8, 8}), kSm90a);
}

constexpr Mutant kFaults[] = {
    {"asm volatile(\"bar.sync %0, %1;\" ::\"n\"(kThereBarrier)",
     "if (false) asm volatile(\"bar.sync %0, %1;\" ::\"n\"(kThereBarrier)"},
    {"      *at = 0;\n", ""},
    {"add_bits(at(sums, begin + i, j), loaded[i].v[j]);",
     "at(sums, begin + i, j) = loaded[i].v[j];"},
    {"store_vector<4>(to + i * kThreads * 4, four);", "store_vector<4>(to + i * kThreads, four);"},
    {"slot < count; ++slot) add(", "slot < 1; ++slot) add("},
    {"(tile + 1) * ranges.tiles_k - 1) - position;",
     "(tile + 1) * ranges.tiles_k - 1) - position - 1;"},
};

// In the order of the clusters, and with those that wait before those that they wait for.
bool is_found_in_any_order(const Mutant& fault, const codegen::KernelSpec& spec,
                           const Problem& problem) {
  const SimVerifier kernel = load_mutant(spec, fault, kSm90a);
  for (const uint64_t seed : {0, 1, 2}) {
    ptxsim::Options options;
    options.seed = seed;
    const auto verdict = kernel.verify({"product", problem, 1, 0.5F, Fill::random, 7}, options);
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    if (!verdict->correct()) return true;
  }
  return false;
}

TEST_CASE("planted faults are found") {
  const Problem problem = make_problem({136, 72, 680}, DataType::bf16, *parse_layout("tnt"));
  const auto spec = streamed("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks=20",
                             codegen::traits_for(problem));
  for (const Mutant& fault : kFaults) {
    CAPTURE(fault.what);
    CHECK(is_found_in_any_order(fault, spec, problem));
  }
}

}  // namespace
}  // namespace gemmtune::tuner
