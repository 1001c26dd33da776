#include <array>
#include <cstdint>
#include <string_view>

#include "parts/shared/direct_block.h"
#include "sim_kernel.h"

// What is particular to wgmma_direct: the operand that producer warps load, of any alignment, in
// every layout; that two warpgroups fill stages in turns; clusters that share the other operand.

namespace gemmtune::tuner {
namespace {

// With A loaded by threads: lines along k and along m, of one box and of two; one consumer and two;
// persistent grids; clusters.
constexpr std::array kWaysOfA = {
    "tile_m=128 tile_n=64 tile_k=64 stages=3 consumers=1 persistent_blocks=1",
    "tile_m=128 tile_n=40 tile_k=64 stages=2 consumers=2 raster=2",
    "tile_m=128 tile_n=192 tile_k=64 stages=3 consumers=1 cluster_m=2",
    "tile_m=128 tile_n=96 tile_k=64 stages=5 consumers=2 cluster_m=2 persistent_blocks=2"};
constexpr std::array kWaysOfB = {
    "tile_m=64 tile_n=128 tile_k=64 stages=3 consumers=1 persistent_blocks=1",
    "tile_m=128 tile_n=128 tile_k=64 stages=4 consumers=2 raster=2",
    "tile_m=192 tile_n=128 tile_k=64 stages=3 consumers=1 cluster_n=2 persistent_blocks=2"};

codegen::KernelSpec direct(std::string_view tile, const KernelTraits& traits,
                           DataType type = DataType::bf16, DataType sums = DataType::f32) {
  return spec_of("wgmma_direct", tile, traits, type, sums, MathMode::ieee, kSm90a);
}

Problem problem_of(const Shape& shape, std::string_view layout) {
  return make_problem(shape, DataType::bf16, *parse_layout(layout));
}

TEST_CASE("wgmma_direct: either operand in every layout, of any alignment") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4}) {
        const DataType type = width == 2 ? DataType::f16 : DataType::bf16;
        check_quick_cases(direct(kWaysOfA.at(way % kWaysOfA.size()),
                                 {a, b, width, 8, way % 2 == 0 ? 1 : 8}, type),
                          kSm90a);
        check_quick_cases(direct(kWaysOfB.at(way % kWaysOfB.size()),
                                 {a, b, 8, width, way % 2 == 0 ? 8 : 2}, type),
                          kSm90a);
        ++way;
      }
    }
  }
}

TEST_CASE("wgmma_direct: lines that one tile of m or n fills in part, and two tiles of k") {
  check_quick_cases(
      direct("tile_m=64 tile_n=112 tile_k=64 stages=3 consumers=1", {true, true, 8, 1, 8}), kSm90a);
  check_quick_cases(
      direct("tile_m=64 tile_n=64 tile_k=128 stages=3 consumers=1", {true, true, 1, 8, 8}), kSm90a);
  check_quick_cases(
      direct("tile_m=64 tile_n=64 tile_k=128 stages=3 consumers=1", {false, true, 1, 8, 8}),
      kSm90a);
}

TEST_CASE("wgmma_direct: biases, activations, sums of f16, results of f32") {
  for (const Epilogue epilogue :
       {Epilogue{kBiasPerColumn, kGeluTanh}, Epilogue{kBiasPerRow, kSilu}}) {
    KernelTraits traits{true, false, 1, 8, 8};
    traits.epilogue = epilogue;
    check_quick_cases(direct(kWaysOfA[3], traits), kSm90a);
    traits.vector_c = 1;
    check_quick_cases(direct(kWaysOfA[0], traits, DataType::f16, DataType::f16), kSm90a);
  }
  auto spec = direct(kWaysOfB[1], {true, true, 8, 1, 4});
  spec.result = DataType::f32;
  check_quick_cases(spec, kSm90a);
}

// Of stages that are loaded ahead: one, two and several in each warpgroup, with and without a part
// of a tile at the end of k, over tiles of C and batch entries whose lines begin elsewhere.
TEST_CASE("wgmma_direct: any number of stages, and batches") {
  const auto check = [](std::string_view tile, const char* layout, const Shape& shape,
                        int64_t batch, int64_t more_stride) {
    Problem problem = problem_of(shape, layout);
    problem.batch = batch;
    if (batch > 1) {
      problem.stride_a = shape.m * shape.k + more_stride;
      problem.stride_b = shape.k * shape.n;
      problem.stride_c = shape.m * shape.n;
    }
    check_product(direct(tile, codegen::traits_for(problem)), problem, Fill::random, 0.5F, kSm90a);
  };
  for (const int64_t k : {1, 63, 65, 73, 129, 201, 265, 329, 513})
    check(kWaysOfA[0], "ttt", {260, 72, k}, 1, 0);
  for (const int64_t k : {8, 64, 72, 128, 200, 264, 512})
    check(kWaysOfA[3], "ntt", {389, 104, k}, 1, 0);
  check(kWaysOfA[0], "ttt", {130, 64, 333}, 3, 5);
  check(kWaysOfA[2], "ntt", {131, 200, 256}, 2, 3);
  check(kWaysOfB[2], "ttt", {200, 130, 136}, 2, 0);
}

TEST_CASE("wgmma_direct: tiles that end with C") {
  constexpr auto kTile = "tile_m=128 tile_n=64 tile_k=64 stages=3 consumers=1 cluster_m=2 edge=1";
  for (const char* layout : {"ttt", "ntt"}) {
    const Problem problem =
        problem_of({layout[0] == 't' ? 300 : 301, 104, layout[0] == 't' ? 133 : 128}, layout);
    for (const float beta : {0.0F, 0.5F})
      check_product(direct(kTile, codegen::traits_for(problem)), problem, Fill::random, beta,
                    kSm90a);
  }
}

TEST_CASE("wgmma_direct: one operand, in tiles of 128 lines, that its own block shares") {
  const auto broken = [](std::string_view tile, const KernelTraits& traits) {
    const codegen::KernelSpec spec{*codegen::find_strategy("wgmma_direct"), *parse_tile(tile),
                                   traits, DataType::bf16};
    const codegen::Rule* rule = codegen::broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  constexpr auto kTile = "tile_m=128 tile_n=128 tile_k=64 stages=4 consumers=2";
  CHECK(broken(kTile, {true, false, 1, 8, 8}).empty());
  CHECK(broken(kTile, {true, false, 8, 4, 8}).empty());
  CHECK(broken(kTile, {true, false, 1, 1, 8}).starts_with("one operand that 16 bytes divide"));
  CHECK(broken(kTile, {true, false, 8, 8, 8}).starts_with("one operand that 16 bytes divide"));
  CHECK(broken("tile_m=64 tile_n=128 tile_k=64 stages=4 consumers=1", {true, false, 1, 8, 8})
            .starts_with("128 lines"));
  CHECK(broken("tile_m=128 tile_n=64 tile_k=64 stages=4 consumers=1 cluster_n=2",
               {true, false, 1, 8, 8}) == "clusters share what TMA copies");
  CHECK(broken("tile_m=128 tile_n=256 tile_k=64 stages=3 consumers=2", {true, false, 1, 8, 8})
            .starts_with("sums"));
}

TEST_CASE("wgmma_direct: registers of a block, one and two consumers") {
  for (const int consumers : {1, 2}) {
    TileConfig tile;
    tile.consumers = consumers;
    const DirectRegisters registers(tile);
    const int threads = direct_threads(tile);
    CHECK(threads == 256 + 128 * consumers);
    CHECK(registers.at_start * threads <= WgmmaRegisters::kOfSm);
    CHECK(kDirectProducers * registers.producer + consumers * registers.consumer <=
          (kDirectProducers + consumers) * registers.at_start);
    CHECK(registers.producer <= registers.at_start);
    CHECK(registers.consumer >= registers.at_start);
  }
}

TEST_CASE("wgmma_direct spills nothing, waits for kernels before it, needs no workspace") {
  for (const char* tile :
       {"tile_m=128 tile_n=192 tile_k=64 stages=4 consumers=1 cluster_m=2 persistent_blocks=132",
        "tile_m=128 tile_n=192 tile_k=64 stages=4 consumers=2 cluster_m=2 persistent_blocks=132"}) {
    for (const bool a : {true, false}) {
      const auto spec = direct(tile, {a, true, 1, 8, 8});
      check_spills_nothing(spec, kSm90a);
      check_waits(spec, kSm90a);
      const Problem head = problem_of({4096, 768, 50257}, a ? "ttt" : "ntt");
      CHECK(spec.strategy->launch_plan(spec, head).workspace_bytes == 0);
    }
  }
}

struct PlantedFault {
  const char* tile;
  Mutant mutant;
};

constexpr PlantedFault kFaults[] = {
    {kWaysOfA[0],
     {"tensor_store_fence();\n    __syncwarp();\n    if (threadIdx.x", "if (threadIdx.x"}},
    {kWaysOfA[0], {"mbarrier_wait(pipeline.empty(ring.stage), ring.parity ^ 1);", ""}},
    {kWaysOfA[0], {"mbarrier_wait(pipeline.full(ring.stage), ring.parity);", ""}},
    {kWaysOfA[0], {"kArrivals = kWarpsOfWarpgroup + 1", "kArrivals = kWarpsOfWarpgroup"}},
    {kWaysOfA[0], {"      ring.skip(group);\n", ""}},
    {kWaysOfA[0], {"(shift & kBit) != 0", "(shift & kBit) == 0"}},
    {kWaysOfA[0], {"+ part * kWarpsOfWarpgroup * line_bytes()", ""}},
    {kWaysOfA[0], {"max(extent - kAlignedVector - k, 0)", "max(extent - k + 63, 0)"}},
    {kWaysOfA[0], {"min(lines_on, place.last_line)", "lines_on"}},
    {kWaysOfA[0], {"own_line < lines ? extent - own_element : 0", "extent - own_element"}},
    {kWaysOfA[0], {"% kChunksOfLine ^ line % kSwizzleLines", "% kChunksOfLine"}},
    {kWaysOfA[2], {"Pipeline::Place::kBlocks > 1", "false"}},
    {kWaysOfA[3], {"kReaders * Place::kSharers", "kReaders"}},
};

TEST_CASE("wgmma_direct: planted faults are found") {
  for (const PlantedFault& fault : kFaults) {
    CAPTURE(fault.tile);
    CAPTURE(fault.mutant.what);
    const auto spec = direct(fault.tile, {true, true, 1, 8, 8});
    CHECK(!verdict_of(load_mutant(spec, fault.mutant, kSm90a), spec).correct());
  }
}

// The last line of k in a tile that m cuts off.
TEST_CASE("wgmma_direct: reads behind the operand's last line are found") {
  const Problem problem = problem_of({389, 104, 128}, "ntt");
  const auto spec = direct(kWaysOfA[1], codegen::traits_for(problem));
  for (const Mutant& mutant :
       {Mutant{"max(mn + kTile.boxes * kLineElements + kAlignedVector - extent, 0)", "0"},
        Mutant{"max(lines - lines_behind - k, 0)", "max(lines - lines_behind - k + 63, 0)"}}) {
    CAPTURE(mutant.what);
    CHECK(is_found(mutant, spec, problem, 0));
  }
}

}  // namespace
}  // namespace gemmtune::tuner
