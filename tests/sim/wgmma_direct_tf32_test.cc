#include <cstdint>
#include <string_view>

#include "direct_tf32_cases.h"
#include "parts/shared/direct_block.h"
#include "sim_kernel.h"

// What is particular to wgmma_direct_tf32: the operand that producer warps load, with k contiguous
// or not, of any alignment; the other one, which TMA copies from where it is or from the workspace.

namespace gemmtune::tuner {
namespace {

// One consumer and more; persistent grids; clusters. Of two operands that need it, threads load A
// with the first and B with the second.
constexpr TilesOfCases kWaysOfA = {
    "tile_m=64 tile_n=64 tile_k=32 stages=3 consumers=1 persistent_blocks=1",
    "tile_m=128 tile_n=136 tile_k=32 stages=2 consumers=2 raster=2",
    "tile_m=128 tile_n=192 tile_k=32 stages=3 consumers=2 cluster_m=2 persistent_blocks=2"};
constexpr TilesOfCases kWaysOfB = {
    "tile_m=64 tile_n=32 tile_k=32 stages=3 consumers=1 persistent_blocks=1",
    "tile_m=192 tile_n=96 tile_k=32 stages=4 consumers=3 raster=2",
    "tile_m=256 tile_n=96 tile_k=32 stages=3 consumers=2 cluster_n=2 persistent_blocks=2"};

codegen::KernelSpec direct(std::string_view tile, const KernelTraits& traits) {
  return direct_tf32_kernel("wgmma_direct_tf32", tile, traits);
}

TEST_CASE(
    "wgmma_direct_tf32: every layout, and operands of which nothing, a pair or all is aligned") {
  check_layouts_and_alignments(direct, kWaysOfA, kWaysOfB);
}

TEST_CASE("wgmma_direct_tf32: biases and activations") {
  check_biases_and_activations(direct, kWaysOfB);
}

// Of stages that are loaded ahead: one, two and several in each warpgroup, with and without a part
// of a tile at the end of k, over tiles of C and batch entries.
TEST_CASE("wgmma_direct_tf32: any number of stages, and batches") {
  const auto check = [](std::string_view tile, const char* layout, const Shape& shape,
                        int64_t batch, bool shared_b) {
    Problem problem = tf32_problem(shape, layout);
    problem.batch = batch;
    if (batch > 1) {
      problem.stride_a = shape.m * shape.k + 3;
      problem.stride_b = shared_b ? 0 : shape.k * shape.n;
      problem.stride_c = shape.m * shape.n;
    }
    check_product(direct(tile, codegen::traits_for(problem)), problem, Fill::random, 0.5F, kSm90a);
  };
  for (const int64_t k : {1, 31, 33, 64, 65, 97, 129, 161, 257}) {
    check(kWaysOfA[0], "ntt", {133, 68, k}, 1, false);
    check(kWaysOfB[0], "ttt", {132, 35, k}, 1, false);
  }
  for (const int64_t k : {1, 31, 33, 65, 129}) check(kWaysOfA[0], "tnt", {131, 68, k}, 1, false);
  check(kWaysOfA[2], "ntt", {389, 200, 96}, 3, false);
  check(kWaysOfB[1], "ttt", {200, 130, 72}, 3, true);
  check(kWaysOfA[1], "ntt", {130, 140, 70}, 3, true);
  check(kWaysOfA[0], "ntt", {1, 1, 1}, 2, false);
}

TEST_CASE("wgmma_direct_tf32: tiles that end with C") {
  constexpr auto kTile = "tile_m=64 tile_n=64 tile_k=32 stages=3 consumers=1 cluster_m=2 edge=1";
  for (const char* layout : {"tnt", "ntt"}) {
    const Problem problem = tf32_problem({301, 104, 133}, layout);
    for (const float beta : {0.0F, 0.5F})
      check_product(direct(kTile, codegen::traits_for(problem)), problem, Fill::random, beta,
                    kSm90a);
  }
}

// Of tiles whose results do neither.
TEST_CASE("wgmma_direct_tf32: what threads store meets no bank twice") {
  constexpr auto kA = "tile_m=64 tile_n=72 tile_k=32 stages=3 consumers=1";
  constexpr auto kB = "tile_m=192 tile_n=96 tile_k=32 stages=3 consumers=3";
  const auto check = [](std::string_view tile, const Shape& shape, const char* layout) {
    const Problem problem = tf32_problem(shape, layout);
    check_no_conflicts(direct(tile, codegen::traits_for(problem)), problem, kSm90a);
  };
  check(kA, {128, 128, 64}, "ntt");
  check(kA, {128, 128, 65}, "tnt");
  check(kB, {192, 128, 64}, "ttt");
  check(kB, {192, 128, 65}, "tnt");
}

TEST_CASE("wgmma_direct_tf32: which tiles are legal") {
  const auto broken = [](std::string_view tile, const KernelTraits& traits) {
    const codegen::KernelSpec spec{*codegen::find_strategy("wgmma_direct_tf32"),
                                   *parse_tile(tile),
                                   traits,
                                   DataType::f32,
                                   DataType::f32,
                                   MathMode::tf32};
    const codegen::Rule* rule = codegen::broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  constexpr auto kTile = "tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2";
  CHECK(broken(kTile, {true, true, 4, 4, 4}).empty());
  CHECK(broken(kTile, {false, true, 1, 1, 1}).empty());
  CHECK(broken(kTile, {true, false, 4, 4, 4}).starts_with("an operand whose k"));
  CHECK(broken("tile_m=128 tile_n=192 tile_k=64 stages=3 consumers=2", {true, true, 4, 4, 4})
            .starts_with("tile_k of 32"));
  CHECK(broken("tile_m=128 tile_n=72 tile_k=32 stages=4 consumers=2", {true, true, 4, 4, 4})
            .starts_with("tile_k of 32"));
  CHECK(broken("tile_m=128 tile_n=64 tile_k=32 stages=4 consumers=1 cluster_m=2",
               {true, true, 4, 4, 4}) == "clusters share what TMA copies");
  CHECK(broken("tile_m=256 tile_n=256 tile_k=32 stages=2 consumers=2", {true, true, 4, 4, 4})
            .starts_with("sums"));
}

TEST_CASE(
    "wgmma_direct_tf32: threads load the operand with fewer lines, workspace is of the other") {
  const Problem head = tf32_problem({50257, 768, 4096}, "ntt");
  const auto bytes = [&](std::string_view tile) {
    const auto spec = direct(tile, codegen::traits_for(head));
    return spec.strategy->launch_plan(spec, head).workspace_bytes;
  };
  CHECK(bytes("tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2") == 4 * 768 * 4096);
  CHECK(bytes("tile_m=128 tile_n=128 tile_k=32 stages=4 consumers=2") == 4 * 768 * 4096);
  CHECK(bytes("tile_m=256 tile_n=96 tile_k=32 stages=4 consumers=2") == int64_t{4} * 50257 * 4096);
  const Problem layer = tf32_problem({4096, 768, 3072}, "ttt");
  const auto spec =
      direct("tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2", codegen::traits_for(layer));
  CHECK(spec.strategy->launch_plan(spec, layer).workspace_bytes == 0);
}

TEST_CASE("wgmma_direct_tf32: registers of a block") {
  for (const int consumers : {1, 2, 3}) {
    for (const int lines : {64, 128, 192, 256}) {
      TileConfig tile;
      tile.tile_m = lines;
      tile.tile_n = 256;
      tile.consumers = consumers;
      const DirectRegisters registers = direct_tf32_registers(tile, {false, true, 4, 4, 4});
      CHECK(registers.at_start * direct_threads(tile) <= WgmmaRegisters::kOfSm);
      CHECK(kDirectProducers * registers.producer + consumers * registers.consumer <=
            (kDirectProducers + consumers) * registers.at_start);
      CHECK(registers.producer % WgmmaRegisters::kUnit == 0);
    }
  }
}

TEST_CASE("wgmma_direct_tf32 spills nothing and waits for kernels before it") {
  for (const char* tile :
       {"tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2 cluster_m=2 persistent_blocks=132",
        "tile_m=128 tile_n=192 tile_k=32 stages=5 consumers=1 persistent_blocks=132"}) {
    for (const KernelTraits& traits :
         {KernelTraits{false, true, 1, 4, 4}, KernelTraits{true, false, 1, 4, 4}}) {
      const auto spec = direct(tile, traits);
      check_spills_nothing(spec, kSm90a);
      check_waits(spec, kSm90a);
    }
  }
  for (const char* tile : {"tile_m=256 tile_n=128 tile_k=32 stages=4 consumers=2",
                           "tile_m=128 tile_n=192 tile_k=32 stages=5 consumers=2",
                           "tile_m=192 tile_n=96 tile_k=32 stages=5 consumers=3"})
    check_spills_nothing(direct(tile, {true, true, 4, 4, 4}), kSm90a);
}

constexpr Mutant kFaults[] = {
    {"tensor_store_fence();\n    __syncwarp();\n    if (threadIdx.x", "if (threadIdx.x"},
    {"mbarrier_wait(pipeline.empty(ring.stage), ring.parity ^ 1);", ""},
    {"kArrivals = kWarpsOfWarpgroup + 1", "kArrivals = kWarpsOfWarpgroup"},
    {"max(depth_left(k), 0) / kDirectTf32Depth", "(depth_left(k) + 31) / kDirectTf32Depth"},
};
constexpr Mutant kFaultsAlongK[] = {
    {"exists ? AsConstant::of(from) : 0.0f", "AsConstant::of(from)"},
    {"<= place.last) from += step", "<= kSide) from += step"},
    {"chunk ^ i * kWarpsOfWarpgroup % kSwizzleLines", "chunk"},
};
constexpr Mutant kFaultsAcross[] = {
    {"first + j < depth ? AsConstant::of", "true ? AsConstant::of"},
    {"^ lane() % kSwizzleLines", ""},
};

TEST_CASE("wgmma_direct_tf32: planted faults are found") {
  const auto check = [](const Mutant& mutant, const codegen::KernelSpec& spec) {
    CAPTURE(mutant.what);
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  };
  const auto along_k = direct(kWaysOfA[0], {true, false, 1, 4, 1});
  const auto across = direct(kWaysOfB[0], {true, true, 4, 1, 1});
  for (const Mutant& mutant : kFaults) {
    check(mutant, along_k);
    check(mutant, across);
  }
  for (const Mutant& mutant : kFaultsAlongK) check(mutant, along_k);
  for (const Mutant& mutant : kFaultsAcross) check(mutant, across);
}

TEST_CASE("wgmma_direct_tf32: elements are rounded to the nearest, and NaN stays NaN") {
  const auto spec = direct(kWaysOfA[0], {true, false, 1, 4, 1});
  CHECK(!verdict_of(load_mutant(spec, {"@finite add", "add"}, kSm90a), spec).correct());
  const Mutant cut_off = {"@finite add.u32 %0, %0, %2;", ""};
  CHECK(verdict_of(load(spec, kSm90a), spec).max_error <
        0.7 * verdict_of(load_mutant(spec, cut_off, kSm90a), spec).max_error);
}

TEST_CASE("wgmma_direct_tf32: faults in tiles that lie in the operand are found") {
  const auto spec =
      direct("tile_m=128 tile_n=96 tile_k=32 stages=3 consumers=2", {true, true, 4, 1, 1});
  for (const Mutant& mutant :
       {Mutant{"row + i * kDirectTf32Lines)", "row)"}, Mutant{"mn + kSide <= most + 1", "true"},
        Mutant{"place.from + (first + j) * ld;", "place.from + j * ld;"}}) {
    CAPTURE(mutant.what);
    CHECK(is_found(mutant, spec, tf32_problem({130, 200, 96}, "ttt"), 0));
  }
}

// Of the last k: m ends within a tile.
TEST_CASE("wgmma_direct_tf32: reads behind the operand's end are found") {
  const Problem problem = tf32_problem({35, 40, 64}, "ntt");
  const auto spec = direct(kWaysOfA[0], codegen::traits_for(problem));
  CHECK(is_found({"min(i * kDirectTf32Lines, place.last)", "i * kDirectTf32Lines"}, spec, problem,
                 0));
}

}  // namespace
}  // namespace gemmtune::tuner
