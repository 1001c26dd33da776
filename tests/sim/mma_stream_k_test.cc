#include <fmt/format.h>

#include <array>
#include <utility>

#include "codegen/search_space.h"
#include "sim_kernel.h"

// What is particular to mma_stream_k: ranges that begin and end within tiles, tiles that several
// blocks share, tiles of one block beside them, and the faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

codegen::KernelSpec with_blocks(int blocks, const KernelTraits& traits,
                                DataType type = DataType::f16, DataType accumulator = DataType::f32,
                                std::string_view raster = "1", MathMode math = MathMode::ieee) {
  return spec_of(
      "mma_stream_k",
      fmt::format("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 order=1 "
                  "fragments=2 sharing_blocks={} raster={}",
                  blocks, raster),
      traits, type, accumulator, math);
}

// The quick cases have four tiles of three k tiles.
TEST_CASE("every alignment class of every layout") {
  int blocks = 2;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4, 8}) {
        const auto type = width % 4 == 0 ? DataType::f16 : DataType::bf16;
        check_quick_cases(with_blocks(blocks, {a, b, width, width, width}, type));
        blocks = blocks == 7 ? 2 : blocks + 1;
      }
    }
  }
}

TEST_CASE("every type and sum") {
  const KernelTraits traits = {true, false, 8, 8, 8};
  check_quick_cases(with_blocks(3, traits, DataType::bf16));
  check_quick_cases(with_blocks(3, traits, DataType::f16, DataType::f16));
  check_quick_cases(with_blocks(5, {false, true, 8, 8, 8}, DataType::f16, DataType::f16));
}

TEST_CASE("f32 in tf32 modes: every layout") {
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      const MathMode math = a == b ? MathMode::tf32x3 : MathMode::tf32;
      const int width = a ? 4 : 1;
      for (const int blocks : {3, 5}) {
        check_quick_cases(with_blocks(blocks, {a, b, width, width, width}, DataType::f32,
                                      DataType::f32, "1", math));
      }
    }
  }
}

// Twelve tiles of eleven k tiles.
TEST_CASE("ranges of every kind") {
  const Problem problem = make_problem({136, 200, 328}, DataType::f16, *parse_layout("tnt"));
  const KernelTraits traits = codegen::traits_for(problem);
  for (const int blocks : {
           4,    // whole waves: nothing is shared
           5,    // seven tiles are, 15 or 16 k tiles a block: whole tiles between parts
           7,    // all are, 18 or 19 k tiles a block
           11,   // all: 12 k tiles a block, just over a tile
           13,   // more blocks than tiles
           25,   // tiles of three blocks
           64,   // two k tiles a block: tiles of six blocks, two ways
           132,  // one k tile each: tiles of eleven
           200,  // and blocks without any
       }) {
    check_product(with_blocks(blocks, traits), problem);
  }
}

// One tile and 40 k tiles: so many slots that eight groups of warps share them out.
TEST_CASE("one tile for all blocks") {
  const Problem problem = make_problem({64, 64, 1280}, DataType::f16, *parse_layout("ttt"));
  for (const int blocks : {3, 16, 37, 132}) {
    check_product(with_blocks(blocks, codegen::traits_for(problem)), problem);
  }
}

TEST_CASE("batches with strides, rows of tiles in groups") {
  Problem problem = make_problem({72, 200, 160}, DataType::bf16, *parse_layout("ntt"));
  problem.batch = 3;
  pack(problem);
  problem.stride_b = 0;
  problem.ldc = 208;
  problem.stride_c = 72 * 208 + 16;
  for (const int blocks : {5, 9, 30}) {
    check_product(
        with_blocks(blocks, codegen::traits_for(problem), problem.type, DataType::f32, "2"),
        problem);
  }
}

TEST_CASE("the order of blocks, warps and copies does not change a bit of the result") {
  const Problem problem = make_problem({128, 64, 320}, DataType::f16, *parse_layout("tnt"));
  for (const int blocks : {3, 7, 20}) {
    const auto spec = with_blocks(blocks, codegen::traits_for(problem));
    CHECK(spec.strategy->deterministic(spec));
    check_same_in_any_order(spec, problem);
  }
}

// No tile is whole here: copies, ldmatrix, sums of eight groups of warps.
TEST_CASE("no bank conflicts") {
  for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
    const Problem problem = make_problem({64, 64, 1280}, DataType::f16, *parse_layout(layout));
    check_no_conflicts(with_blocks(20, codegen::traits_for(problem)), problem);
  }
}

constexpr Mutant kFaults[] = {
    // Results through shared memory that the next tile's copies overwrite.
    {"__syncthreads();  // nobody stores results", "//"},
    {"(begin(b) < tile * tiles_k ? 1 : 0)", "0"},
    {"longer + (i - of_longer) / least", "(i - of_longer) / least"},
    {"if (first == last) return;  // it was whole", ""},
    {"min(left, ranges.tiles_k - first)", "left"},
    {"count < ranges.tiles_k ? slot : kWholeTile", "kWholeTile"},
    {"last - first + 1", "2"},
    {"args.m - row);", "16);"},
};

TEST_CASE("planted faults are found") {
  // Twelve k tiles for three blocks, for five, and for seven.
  for (const Mutant& fault : kFaults) {
    CAPTURE(fault.what);
    int found = 0;
    for (const int blocks : {3, 5, 7}) {
      const auto spec = with_blocks(blocks, {true, false, 8, 8, 2});
      found += verdict_of(load_mutant(spec, fault), spec).correct() ? 0 : 1;
    }
    CHECK(found > 0);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
