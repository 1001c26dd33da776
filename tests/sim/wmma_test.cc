#include <doctest/doctest.h>

#include "codegen/search_space.h"
#include "sim_kernel.h"

// What is particular to wmma: every alignment class of every layout from sm_75 on, types and sums,
// shared memory without bank conflicts, and faults that its verification has to find.

namespace gemmtune::tuner {
namespace {

constexpr std::string_view kSmall = "tile_m=64 tile_n=32 tile_k=32 warp_m=32 warp_n=16";
constexpr Arch kTuring = {7, 5, false};

TEST_CASE("wmma: every alignment class of every layout") {
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4, 8}) {
        check_quick_cases(spec_of("wmma", kSmall, {a, b, width, width, width}), kTuring);
        check_quick_cases(spec_of("wmma", kSmall, {a, b, 8, width, 8}));
      }
    }
  }
}

TEST_CASE("wmma: every type and sum") {
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      check_quick_cases(spec_of("wmma", kSmall, {a, b, 8, 8, 8}, DataType::bf16));
      for (const int width : {1, 2, 8}) {
        check_quick_cases(
            spec_of("wmma", kSmall, {a, b, 8, 8, width}, DataType::f16, DataType::f16), kTuring);
      }
    }
  }
}

TEST_CASE("wmma: f32 rounded to f16, every alignment class of every layout") {
  const auto rounded = [](const KernelTraits& traits) {
    return spec_of("wmma", kSmall, traits, DataType::f32, DataType::f32, MathMode::f16);
  };
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4}) {
        check_quick_cases(rounded({a, b, width, width, width}), kTuring);
        check_quick_cases(rounded({a, b, width, 4, 4}));
      }
    }
  }
}

// Row lengths of 2, 4, 6, 8, 12 and 16 chunks of 16 bytes: padded rows, and the order in which they
// are filled. Not what the epilogue reads: eight sums a lane are two 16-byte reads 32 bytes apart.
TEST_CASE("wmma stores and reads tiles, and stores fragments, without bank conflicts") {
  for (const char* tile : {"tile_m=64 tile_n=32 tile_k=32 warp_m=32 warp_n=16",
                           "tile_m=128 tile_n=64 tile_k=16 warp_m=64 warp_n=32",
                           "tile_m=96 tile_n=128 tile_k=32 warp_m=48 warp_n=64",
                           "tile_m=64 tile_n=64 tile_k=64 warp_m=64 warp_n=32"}) {
    for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
      CAPTURE(tile);
      CAPTURE(layout);
      const auto [spec, problem] = tile_product("wmma", tile, layout);
      const auto profiled = load(spec).profile(problem, {});
      REQUIRE_MESSAGE(profiled.has_value(), profiled.error().message);
      int counted = 0;
      for (const ptxsim::AccessCounts& access : profiled->launches.front().counts.accesses) {
        if (access.space != ptxsim::Space::shared) continue;
        if (access.category == ptxsim::InstructionClass::load) continue;
        CHECK(access.wavefronts > 0);
        CHECK(access.bank_conflicts() == 0);
        ++counted;
      }
      CHECK(counted >= 8);
    }
  }
}

constexpr Mutant kMutants[] = {
    {"__syncthreads();\n      if (!more) return;", "if (!more) return;"},
    {"line < line_end && element_", "element_"},  // rows past the matrix
    {"k_left -= kTile.tile_k;", "k_left -= kTile.tile_k + 8;"},
    {"kTraits.b_row_major>;\n\n", "!kTraits.b_row_major>;\n\n"},  // of the fragment
    {"if (m < writer.args.m && n < writer.args.n) {", "if (m < writer.args.m) {"},
    {"__syncwarp();", ""},
};

TEST_CASE("wmma: planted faults are found") {
  const auto spec = spec_of("wmma", kSmall, {true, false, 8, 8, 8});
  for (const Mutant& mutant : kMutants) {
    CAPTURE(mutant.what);
    CHECK_FALSE(verdict_of(load_mutant(spec, mutant), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
