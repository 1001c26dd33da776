#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "codegen/search_space.h"
#include "sim_kernel.h"

// What is particular to the tensor-core kernels: every alignment class of every layout, shared
// memory without bank conflicts, and faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

constexpr std::string_view kSmall =
    "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 order=1 fragments=2";

TEST_CASE("every alignment class of every layout") {
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4, 8}) {
        check_quick_cases(spec_of("mma_multistage", kSmall, {a, b, width, width, width}));
        if (width == 8) continue;
        check_quick_cases(spec_of("mma_misaligned", kSmall, {a, b, width, 8, 8}, DataType::bf16));
        check_quick_cases(spec_of("mma_misaligned", kSmall, {a, b, 8, width, width}));
      }
    }
  }
}

// Where copies pass through registers and products are 8 deep.
TEST_CASE("sm_75: every alignment class of every layout") {
  constexpr Arch kTuring = {7, 5, false};
  constexpr std::string_view kTile = "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2";
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 4, 8}) {
        const int fragments = width == 2 || width == 8 ? 2 : 1;
        const std::string tile = fmt::format("{} order=1 fragments={}", kTile, fragments);
        const auto spec = [&](std::string_view strategy, const KernelTraits& traits,
                              DataType sums) {
          return spec_of(strategy, tile, traits, DataType::f16, sums, MathMode::ieee, kTuring);
        };
        const KernelTraits traits = {a, b, width, width, width};
        check_quick_cases(spec("mma_multistage", traits, DataType::f32), kTuring);
        check_quick_cases(spec("mma_multistage", {a, b, 8, width, 8}, DataType::f16), kTuring);
        if (width < 8) check_quick_cases(spec("mma_misaligned", traits, DataType::f32), kTuring);
      }
    }
  }
}

TEST_CASE("every type and sum") {
  const KernelTraits traits = {true, false, 8, 8, 8};
  check_quick_cases(spec_of("mma_multistage", kSmall, traits, DataType::bf16));
  check_quick_cases(spec_of("mma_multistage", kSmall, traits, DataType::f16, DataType::f16));
  check_quick_cases(
      spec_of("mma_multistage", kSmall, {false, true, 8, 8, 8}, DataType::f16, DataType::f16));
}

TEST_CASE("f32 in tf32 modes: every alignment class of every layout") {
  const auto check = [](const KernelTraits& traits, MathMode math, int promotion) {
    const std::string tile = fmt::format(
        "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 stages=3 copy=1 order=1 fragments=1 "
        "promotion={}",
        promotion);
    check_quick_cases(spec_of("mma_multistage", tile, traits, DataType::f32, DataType::f32, math));
  };
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      check({a, b, 1, 1, 1}, MathMode::tf32x3, 2);
      check({a, b, 2, 2, 2}, MathMode::tf32, 1);
      check({a, b, 4, 4, 4}, MathMode::tf32x3, 1);
    }
  }
}

TEST_CASE("f32 along m or n needs tiles of a multiple of 32") {
  const auto tile = *parse_tile(
      "tile_m=80 tile_n=80 tile_k=16 warp_m=80 warp_n=16 stages=3 copy=1 order=1 fragments=1");
  codegen::KernelSpec spec{*codegen::find_strategy("mma_multistage"),
                           tile,
                           {true, false, 4, 4, 4},
                           DataType::f32,
                           DataType::f32,
                           MathMode::tf32};
  const DeviceSpec& device = representative_device(kSimArch);
  CHECK(codegen::broken_rule(spec, device) == nullptr);
  spec.traits.b_row_major = true;
  const codegen::Rule* broken = codegen::broken_rule(spec, device);
  REQUIRE(broken != nullptr);
  CHECK(broken->name.find("multiple of 32") != std::string_view::npos);
}

// Sums over a long k: the bound of the cases grows with it, twice plain f32's error does not pass.
TEST_CASE("3xtf32 is as accurate as f32") {
  const Problem f32 = make_problem({64, 64, 2048});
  Problem problem = f32;
  problem.math = MathMode::tf32x3;
  const auto plain = codegen::spec_for(**codegen::find_strategy("naive"),
                                       *parse_tile("tile_m=8 tile_n=32"), f32, kSimArch);
  const auto split = codegen::spec_for(
      **codegen::find_strategy("mma_multistage"),
      *parse_tile(
          "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2 copy=1 order=1 fragments=1"),
      problem, kSimArch);
  const auto error = [](const codegen::KernelSpec& spec, const Problem& of) {
    const auto verdict =
        load(spec).verify(VerificationCase{"random", of, 1, 0, Fill::random, 7}, {});
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    CHECK_MESSAGE(verdict->correct(), verdict->detail);
    return verdict->max_error;
  };
  CHECK(error(split, problem) < error(plain, f32));
}

// Of the main loop: copies and ldmatrix.
uint64_t main_loop_conflicts(const ptxsim::Profile& profile, int& counted) {
  uint64_t conflicts = 0;
  for (const ptxsim::AccessCounts& access : profile.accesses) {
    const bool of_loop = access.category == ptxsim::InstructionClass::async_copy ||
                         access.category == ptxsim::InstructionClass::matrix;
    if (!of_loop) continue;
    REQUIRE(access.has_wavefronts());
    CHECK(access.wavefronts > 0);
    conflicts += access.bank_conflicts();
    ++counted;
  }
  return conflicts;
}

// Row lengths of 4, 8, 16, 20 and 24 chunks of 16 bytes: every way of swizzling_rows.cuh.
TEST_CASE("the main loop has no bank conflicts") {
  constexpr std::string_view kTiles[] = {
      "tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 fragments=2 "
      "raster=1",
      "tile_m=64 tile_n=128 tile_k=32 warp_m=32 warp_n=64 stages=2 copy=1 order=1 fragments=2",
      "tile_m=64 tile_n=160 tile_k=32 warp_m=32 warp_n=80 stages=3 copy=1 order=2 fragments=1",
      "tile_m=192 tile_n=64 tile_k=64 warp_m=96 warp_n=32 stages=2 copy=1 order=0 fragments=1",
      "tile_m=224 tile_n=64 tile_k=64 warp_m=112 warp_n=16 stages=2 copy=1 order=1 fragments=1",
      "tile_m=64 tile_n=64 tile_k=128 warp_m=32 warp_n=16 stages=2 copy=1 order=1 fragments=2",
  };
  for (const std::string_view tile : kTiles) {
    for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
      CAPTURE(tile);
      CAPTURE(layout);
      const auto [spec, problem] = tile_product("mma_multistage", tile, layout);
      const auto profiled = load(spec).profile(problem, {});
      REQUIRE_MESSAGE(profiled.has_value(), profiled.error().message);
      CHECK_MESSAGE(profiled->verdict.correct(), profiled->verdict.detail);
      int counted = 0;
      CHECK(main_loop_conflicts(profiled->launches.front().counts, counted) == 0);
      CHECK(counted >= 8);
    }
  }
}

// Every access: fragments that are read as they lie are plain loads.
TEST_CASE("kernels of f32 have no bank conflicts") {
  constexpr std::string_view kTiles[] = {
      "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2 copy=1 order=1 fragments=2",
      "tile_m=128 tile_n=64 tile_k=16 warp_m=64 warp_n=32 stages=3 copy=1 order=2 fragments=1",
  };
  for (const std::string_view tile : kTiles) {
    for (const char* layout : {"ttt", "tnt", "ntt", "nnt"}) {
      CAPTURE(tile);
      CAPTURE(layout);
      const auto [spec, problem] =
          tile_product("mma_multistage", tile, layout, DataType::f32, MathMode::tf32x3);
      check_no_conflicts(spec, problem);
    }
  }
}

constexpr Mutant kMutants[] = {
    {"line < line_end && element_", "element_"},  // rows past the matrix
    {"wait_for_copies<kStages - 2>();\n        Group::sync();", "Group::sync();"},
    {"if (m < writer.args.m && n < writer.args.n) {", "if (m < writer.args.m) {"},
    {"__syncwarp();", ""},
};

TEST_CASE("planted faults are found") {
  const auto spec = spec_of("mma_multistage", kSmall, {true, false, 8, 8, 8});
  for (const Mutant& mutant : kMutants) {
    CAPTURE(mutant.what);
    CHECK_FALSE(verdict_of(load_mutant(spec, mutant), spec).correct());
  }
}

// It is right everywhere, and slow.
TEST_CASE("a wrong swizzle is found by its bank conflicts") {
  const auto spec = spec_of("mma_multistage", kSmall, {true, false, 8, 8, 8});
  const SimVerifier kernel = load_mutant(
      spec, {" (row / (8 / kPeriod)) & (kPeriod", " (row / (16 / kPeriod)) & (kPeriod"});
  const Verdict verdict = verdict_of(kernel, spec);
  CHECK_MESSAGE(verdict.correct(), verdict.detail);
  const auto profiled =
      kernel.profile(make_problem({64, 64, 64}, DataType::f16, *parse_layout("tnt")), {});
  REQUIRE(profiled.has_value());
  int counted = 0;
  CHECK(main_loop_conflicts(profiled->launches.front().counts, counted) > 0);
}

constexpr Mutant kProductMutants[] = {
    {"add_tf32(step, a.small, i, b.big, j);", ""},
    {"add_tf32(step, a.big, i, b.small, j);", ""},
    {"return sum == sum ? sum :", "return true ? sum :"},  // an infinity times what is left of 1
    {"kExchanged ? r % 8 * 2 + r / 8 : r", "r"},
    {"mn % 4 * 4", "0"},
};

TEST_CASE("planted faults are found in 3xtf32") {
  const auto spec = spec_of("mma_multistage",
                            "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 stages=3 copy=1 "
                            "order=1 fragments=1 promotion=2",
                            {false, true, 4, 4, 4}, DataType::f32, DataType::f32, MathMode::tf32x3);
  for (const Mutant& mutant : kProductMutants) {
    CAPTURE(mutant.what);
    CHECK_FALSE(verdict_of(load_mutant(spec, mutant), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
