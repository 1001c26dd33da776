#include <array>

#include "sim_kernel.h"

// What is particular to gemv and skinny: tiles that begin where lines of memory do, the short
// operand on its way through the ring, and warps that meet all at once or by halves.

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, false};

struct Case {
  std::string_view strategy;
  std::string_view tile;
};

// For few rows. The sums of the last two meet by halves.
constexpr std::array kShortRows = {
    Case{"gemv",
         "tile_m=2 tile_n=32 thread_m=2 thread_n=4 warps=4 unroll=4 copy=2 fragments=1 slices=1"},
    Case{"gemv",
         "tile_m=2 tile_n=64 thread_m=2 thread_n=4 warps=4 unroll=2 stages=3 copy=1 fragments=1 "
         "slices=2 reduction=2"},
    Case{"gemv",
         "tile_m=1 tile_n=16 thread_m=1 thread_n=4 warps=32 unroll=2 copy=2 fragments=2 slices=1"},
    Case{"skinny",
         "tile_m=1 tile_n=32 copy_scope=1 thread_m=1 thread_n=4 warps=16 unroll=2 stages=4 copy=1 "
         "fragments=1 slices=1"},
    Case{"skinny",
         "tile_m=8 tile_n=32 copy_scope=1 thread_m=8 thread_n=4 warps=4 unroll=4 stages=3 copy=1 "
         "fragments=1 slices=1"},
    Case{"skinny",
         "tile_m=4 tile_n=64 copy_scope=1 thread_m=4 thread_n=4 warps=4 unroll=4 stages=3 copy=1 "
         "fragments=1 slices=3"},
    Case{"skinny",
         "tile_m=16 tile_n=128 copy_scope=1 thread_m=16 thread_n=4 warps=8 unroll=2 stages=3 "
         "copy=1 fragments=1 slices=1"},
    Case{"skinny",
         "tile_m=8 tile_n=256 tile_k=64 thread_m=8 thread_n=8 warps=8 unroll=2 copy=2 fragments=1 "
         "slices=2 "
         "reduction=2"},
};

// The same for few columns.
std::string turned(std::string_view tile) {
  TileConfig t = *parse_tile(tile);
  std::swap(t.tile_m, t.tile_n);
  std::swap(t.thread_m, t.thread_n);
  return to_string(t);
}

void check(const Case& test, const std::string& tile, const Problem& problem) {
  check_product(spec_of(test.strategy, tile, codegen::traits_for(problem), DataType::f32,
                        DataType::f32, MathMode::ieee, kHopper),
                problem, Fill::random, 0.5F, kHopper);
}

// A long side of whole lines, so that all rows begin at the same place of theirs, and another one.
TEST_CASE("pointers in the middle of a line") {
  for (const Case& test : kShortRows) {
    const TileConfig t = *parse_tile(test.tile);
    for (const int align : {4, 16, 256}) {
      for (const int64_t extent : {96, 100}) {
        Problem rows = make_problem({t.tile_m, extent, 70}, DataType::f32, *parse_layout("ttt"));
        rows.align_bytes = align;
        check(test, std::string(test.tile), rows);
        Problem columns = make_problem({extent, t.tile_m, 70}, DataType::f32, *parse_layout("nnt"));
        columns.align_bytes = align;
        check(test, turned(test.tile), columns);
      }
    }
  }
}

TEST_CASE("every layout, with fewer rows than the tile and a ragged k") {
  for (const Case& test : kShortRows) {
    const TileConfig t = *parse_tile(test.tile);
    for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
      for (const int64_t k : {1, 149}) {
        const int64_t few = t.tile_m / 2 + 1;
        check(test, std::string(test.tile),
              make_problem({few, 68, k}, DataType::f32, *parse_layout(layout)));
        check(test, turned(test.tile),
              make_problem({68, few, k}, DataType::f32, *parse_layout(layout)));
      }
    }
  }
}

TEST_CASE("a batch whose entries begin at different places of their lines") {
  for (const Case& test : kShortRows) {
    const TileConfig t = *parse_tile(test.tile);
    Problem problem = make_problem({t.tile_m, 96, 64}, DataType::f32, *parse_layout("ttt"));
    problem.batch = 3;
    problem.stride_a = problem.shape.m * problem.shape.k + 4;
    problem.stride_b = problem.shape.k * problem.shape.n + 12;
    problem.stride_c = problem.shape.m * problem.shape.n;
    check(test, std::string(test.tile), problem);
  }
}

TEST_CASE("planted faults are found") {
  constexpr std::array kMutants = {
      Mutant{"place < 0 ? place + around : place", "place"},
      Mutant{"__syncwarp();  // the other lanes' copies", "//"},
      Mutant{"valid ? kBytes : 0", "kBytes"},
      Mutant{"min(start + row_of(c), extent - (G::kShortContiguousK ? 1 : kWidth))",
             "start + row_of(c)"},
      Mutant{"__syncthreads();  // nobody reads it any more", ""},
  };
  Problem problem = make_problem({7, 96, 150}, DataType::f32, *parse_layout("ttt"));
  problem.align_bytes = 16;
  const auto spec = spec_of("skinny",
                            "tile_m=8 tile_n=32 copy_scope=1 thread_m=8 thread_n=4 warps=4 "
                            "unroll=4 stages=3 copy=1 fragments=1 slices=1",
                            codegen::traits_for(problem), DataType::f32);
  for (const Mutant& mutant : kMutants) {
    CAPTURE(mutant.what);
    const SimVerifier kernel = load_mutant(spec, mutant);
    bool found = false;
    for (const ptxsim::AsyncMode mode : kernel.async_modes()) {
      ptxsim::Options options;
      options.async = mode;
      const auto verdict =
          kernel.verify({"product", problem, 1.25F, 0.5F, Fill::random, 7}, options);
      REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
      found = found || !verdict->correct();
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
