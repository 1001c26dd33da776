#include "tuner/verify/random_cases.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "core/arch.h"

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, false};

codegen::SearchSpace space_of(const char* strategy) {
  return *codegen::default_search_space(**codegen::find_strategy(strategy));
}

TEST_CASE("random kernels are legal, and of every kind that the strategy has") {
  std::mt19937_64 random(3);
  const auto& device = representative_device(kHopper);
  const auto space = space_of("mma_multistage");
  std::set<std::string> types;
  std::set<std::string> epilogues;
  std::set<int> widths;
  std::set<std::pair<bool, bool>> layouts;
  for (int i = 0; i < 300; ++i) {
    const auto spec = random_kernel(space, device, random);
    REQUIRE(spec.has_value());
    CHECK(codegen::broken_rule(*spec, device) == nullptr);
    CHECK(space.holds(spec->tile));
    types.insert(std::string(to_string(spec->type)) + " " + std::string(to_string(spec->math)));
    epilogues.insert(to_string(spec->traits.epilogue));
    widths.insert(spec->traits.vector_c);
    layouts.insert({spec->traits.a_row_major, spec->traits.b_row_major});
  }
  CHECK(types.count("f16 ieee") == 1);
  CHECK(types.count("bf16 ieee") == 1);
  CHECK(types.count("f32 tf32") == 1);
  CHECK(types.count("f32 ieee") == 0);
  CHECK(epilogues.size() == 15);
  CHECK(widths == std::set{1, 2, 4, 8});
  CHECK(layouts.size() == 4);
}

TEST_CASE("random kernels on Hopper have 8-bit operands too") {
  std::mt19937_64 random(4);
  const auto space = space_of("wgmma_tma");
  std::set<std::string> kinds;  // types, modes and results, some of which one draw in 100 has
  for (int i = 0; i < 3000 && kinds.size() < 12; ++i) {
    const auto spec = random_kernel(space, representative_device(kHopper), random);
    REQUIRE(spec.has_value());
    if (!is_8_bit(spec->type)) continue;
    CHECK(spec->traits.a_row_major);
    CHECK_FALSE(spec->traits.b_row_major);
    kinds.insert(std::string(to_string(spec->type)) + " " + std::string(to_string(spec->math)) +
                 " " + std::string(to_string(result_type(*spec))));
  }
  CHECK(kinds.size() == 12);
}

TEST_CASE("random cases promise what the kernel expects, and no more") {
  std::mt19937_64 random(5);
  const auto& device = representative_device(kHopper);
  for (const char* strategy : {"multistage", "wgmma_tma", "mma_split_k"}) {
    const auto space = space_of(strategy);
    for (int i = 0; i < 30; ++i) {
      const auto spec = random_kernel(space, device, random);
      REQUIRE(spec.has_value());
      const CaseSizes most = ragged_sizes(spec->tile);
      for (const VerificationCase& test : random_cases(*spec, 2, 10, random)) {
        CAPTURE(key(test.problem));
        KernelTraits expected = spec->traits;
        expected.fetches_c = false;  // of no problem
        CHECK(codegen::traits_for(test.problem) == expected);
        CHECK(validate(test.problem).has_value());
        CHECK(canonical(test.problem) == test.problem);
        CHECK(test.problem.shape.m <= 2 * most.m + 8);
        CHECK(test.problem.shape.n <= 2 * most.n + 8);
        if (spec->traits.epilogue.bias == kNoBias) CHECK(test.bias_shift == 0);
      }
    }
  }
}

TEST_CASE("a seed draws the same again") {
  const auto space = space_of("sliced_k");
  const auto drawn = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto spec = *random_kernel(space, representative_device(kHopper), random);
    std::string text = codegen::kernel_name(spec);
    for (const VerificationCase& test : random_cases(spec, 1, 5, random))
      text += key(test.problem) + test.name;
    return text;
  };
  CHECK(drawn(1) == drawn(1));
  CHECK(drawn(1) != drawn(2));
}

TEST_CASE("no kernel where the strategy does not run") {
  std::mt19937_64 random(1);
  CHECK_FALSE(random_kernel(space_of("wgmma_tma"), representative_device({8, 0, false}), random));
}

}  // namespace
}  // namespace gemmtune::tuner
