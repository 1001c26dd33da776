#include <algorithm>
#include <array>

#include "codegen/search_space.h"
#include "sim_kernel.h"

// What is particular to mma_split_k: parts of k without a k tile, sums that meet in shared memory,
// in the workspace and in a cluster, and the faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, false};

constexpr const char* kTile =
    "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 order=1 fragments=2 "
    "raster=1 ";

std::string tile(std::string_view parts) {
  return kTile + std::string(parts);
}

// How k is shared out: through registers to the workspace, through shared memory to C, through both
// and in clusters.
constexpr std::array kWays = {"groups=1 slices=3", "groups=3 slices=1", "groups=2 slices=2",
                              "groups=1 slices=4 reduction=2", "groups=2 slices=3 reduction=2"};

TEST_CASE("every alignment class of every layout") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4, 8}) {
        // Five ways over sixteen kernels: each meets several.
        const auto type = width % 4 == 0 ? DataType::f16 : DataType::bf16;
        check_quick_cases(
            spec_of("mma_split_k", tile(kWays.at(way++ % kWays.size())),
                    {a, b, width, width, width}, type, DataType::f32, MathMode::ieee, kHopper),
            kHopper);
      }
    }
  }
}

TEST_CASE("every type and sum, each way") {
  for (const char* way : kWays) {
    for (const auto& [type, sums] :
         {std::pair{DataType::f16, DataType::f16}, std::pair{DataType::bf16, DataType::f32}}) {
      check_quick_cases(spec_of("mma_split_k", tile(way), {true, false, 8, 8, 8}, type, sums,
                                MathMode::ieee, kHopper),
                        kHopper);
    }
  }
}

// Infinities included: sums over all of k are what 3xtf32 corrects.
TEST_CASE("f32 in tf32 modes: every layout, each way") {
  for (const char* way : kWays) {
    for (const bool a : {true, false}) {
      for (const bool b : {true, false}) {
        const MathMode math = a == b ? MathMode::tf32x3 : MathMode::tf32;
        const int width = a ? 4 : 1;
        check_quick_cases(spec_of("mma_split_k", tile(way), {a, b, width, width, width},
                                  DataType::f32, DataType::f32, math, kHopper),
                          kHopper);
      }
    }
  }
}

// Ten k tiles and a rest: parts of several k tiles, of one, and of none.
TEST_CASE("parts of k of every size") {
  const Problem problem = make_problem({72, 136, 328}, DataType::f16, *parse_layout("tnt"));
  const KernelTraits traits = codegen::traits_for(problem);
  for (const char* parts :
       {"groups=1 slices=2", "groups=1 slices=4", "groups=1 slices=11", "groups=1 slices=40",
        "groups=4 slices=1", "groups=3 slices=3", "groups=2 slices=9", "groups=5 slices=1",
        "groups=2 slices=8 reduction=2", "groups=1 slices=7 reduction=2"}) {
    check_product(spec_of("mma_split_k", tile(parts), traits, problem.type, DataType::f32,
                          MathMode::ieee, kHopper),
                  problem, Fill::random, 0.5F, kHopper);
  }
  // Groups of one warp need no barrier, and may be more than 15.
  constexpr std::string_view kOneWarp =
      "tile_m=32 tile_n=32 tile_k=32 warp_m=32 warp_n=32 stages=2 copy=1 order=1 fragments=1 "
      "groups=16 "
      "slices=1 raster=1";
  check_product(spec_of("mma_split_k", kOneWarp, traits), problem);
}

TEST_CASE("batches with strides, rows of tiles in groups") {
  Problem problem = make_problem({72, 200, 160}, DataType::bf16, *parse_layout("ntt"));
  problem.batch = 3;
  pack(problem);
  problem.stride_b = 0;
  problem.ldc = 208;
  problem.stride_c = 72 * 208 + 16;
  for (const char* parts : {"groups=1 slices=3", "groups=2 slices=2", "groups=2 slices=1"}) {
    std::string text = tile(parts);
    text.replace(text.find("raster=1"), 8, "raster=2");
    check_product(spec_of("mma_split_k", text, codegen::traits_for(problem), problem.type),
                  problem);
  }
}

// Sums of f16 accumulators leave as f32: the error is that of the parts, not of their sum.
TEST_CASE("the order of blocks, warps and copies does not change a bit of the result") {
  const Problem problem = make_problem({64, 64, 320}, DataType::f16, *parse_layout("tnt"));
  for (const char* parts : {"groups=2 slices=5", "groups=5 slices=1", "groups=1 slices=20"}) {
    const auto spec = spec_of("mma_split_k", tile(parts), codegen::traits_for(problem));
    CHECK(spec.strategy->deterministic(spec));
    check_same_in_any_order(spec, problem);
  }
}

// Copies, ldmatrix, partial tiles on their way in and out, of both kernels.
TEST_CASE("no bank conflicts") {
  for (const char* parts : {"groups=2 slices=4", "groups=2 slices=2 reduction=2",
                            "groups=4 slices=1", "groups=1 slices=16"}) {
    for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
      const Problem problem = make_problem({64, 64, 512}, DataType::f16, *parse_layout(layout));
      check_no_conflicts(spec_of("mma_split_k", tile(parts), codegen::traits_for(problem),
                                 DataType::f16, DataType::f32, MathMode::ieee, kHopper),
                         problem, kHopper);
    }
  }
}

TEST_CASE("no bank conflicts in f32 whose rows are exchanged") {
  for (const char* parts : {"groups=2 slices=4", "groups=2 slices=2 reduction=2"}) {
    for (const char* layout : {"ttt", "nnt"}) {
      Problem problem = make_problem({64, 64, 512}, DataType::f32, *parse_layout(layout));
      problem.math = MathMode::tf32x3;
      check_no_conflicts(spec_of("mma_split_k", tile(parts), codegen::traits_for(problem),
                                 DataType::f32, DataType::f32, problem.math, kHopper),
                         problem, kHopper);
    }
  }
}

struct Fault {
  Mutant mutant;
  const char* parts;
};

TEST_CASE("planted faults are found") {
  constexpr Fault kFaults[] = {
      {{"if constexpr (kGroups > 1 || !kInCluster) __syncthreads();", ""}, "groups=2 slices=1"},
      // Sums over the pipeline that others of the group still read.
      {{"wait_for_copies<0>();\n    Group::sync();", "wait_for_copies<0>();"}, "groups=2 slices=1"},
      {{"slice * kGroups + Group::index()", "slice * kGroups"}, "groups=2 slices=1"},
      {{"return tile * kSlices + i;", "return tile * kSlices + i / 2;"}, "groups=1 slices=3"},
      {{"Reduction::Slots::slot(args, block),\n                                                 "
        "args.m - tile.row);",
        "Reduction::Slots::slot(args, block), 16);"},
       "groups=1 slices=3"},
      {{"Writer::of(args, batch);\n    cluster_sync();", "Writer::of(args, batch);"},
       "groups=2 slices=2 reduction=2"},
      {{"cluster_meet();  // no block may leave", "// "}, "groups=1 slices=2 reduction=2"},
      {{"if (n + j >= args.n) continue;", ""}, "groups=2 slices=1"},
      {{"if (way > 0) return;", ""}, "groups=1 slices=4"},
  };
  for (const Fault& fault : kFaults) {
    CAPTURE(fault.mutant.what);
    const auto spec = spec_of("mma_split_k", tile(fault.parts), {true, false, 8, 8, 2},
                              DataType::f16, DataType::f32, MathMode::ieee, kHopper);
    CHECK_FALSE(verdict_of(load_mutant(spec, fault.mutant, kHopper), spec).correct());
  }
}

TEST_CASE("planted faults are found in 3xtf32") {
  constexpr Fault kFaults[] = {
      {{"return row + Rows::row(line / 16, line % 16);", "return row + line;"},
       "groups=2 slices=1"},
      {{"Mainloop::Rows::row(line / 16, r) < rows", "line + r < rows"}, "groups=1 slices=3"},
      {{"return sum == sum ? sum :", "return true ? sum :"}, "groups=1 slices=3"},
  };
  for (const Fault& fault : kFaults) {
    CAPTURE(fault.mutant.what);
    const auto spec = spec_of("mma_split_k", tile(fault.parts), {false, true, 4, 4, 4},
                              DataType::f32, DataType::f32, MathMode::tf32x3);
    CHECK_FALSE(verdict_of(load_mutant(spec, fault.mutant), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
