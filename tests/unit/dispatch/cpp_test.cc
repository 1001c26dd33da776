// The C++ interface over the C one.
#include "gemmtune/gemmtune.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <type_traits>

#include "cpp_fixture.h"

namespace {

using gemmtune::dispatch_test::CppFixture;

gemmtune::Options fake_libraries() {
  gemmtune::Options options;
  options.driver_library = GEMMTUNE_FAKE_CUDA;
  options.cublaslt_library = GEMMTUNE_FAKE_CUBLASLT;
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  return options;
}

gemmtune_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const gemmtune::Error& error) {
    CHECK(std::string(error.what()).size() > 10);
    return error.status();
  }
  return GEMMTUNE_STATUS_SUCCESS;
}

static_assert(!std::is_copy_constructible_v<gemmtune::Handle>);
static_assert(std::is_nothrow_move_constructible_v<gemmtune::Handle>);

TEST_CASE("C++: a product, its workspace and its explanation") {
  const CppFixture fixture;
  gemmtune::Options options = fake_libraries();
  const std::string cache = fixture.cache();
  options.cache_dir = cache.c_str();
  auto handle = gemmtune::Handle::from_database(fixture.database(), options);
  const gemmtune::Problem problem(24, 20, 16);
  handle.prewarm({&problem, 1});
  CHECK(handle.workspace_bytes(problem) == 0);
  CHECK(handle.explain(problem).find("naive") != std::string::npos);
  CHECK(handle.explain(problem, GEMMTUNE_JSON).back() == '}');

  // The fake device computes in host memory.
  const std::vector<float> a(24 * 16, 2);
  const std::vector<float> b(16 * 20, 3);
  std::vector<float> c(24 * 20, 1);
  handle.gemm(problem, 0.5F, a.data(), b.data(), -1, c.data());
  CHECK(c == std::vector<float>(24 * 20, 0.5F * 16 * 6 - 1));

  gemmtune::Operands operands;
  const float one = 1;
  const float zero = 0;
  operands.alpha = &one;
  operands.beta = &zero;
  operands.a = a.data();
  operands.b = b.data();
  operands.c = c.data();
  handle.run(problem, operands);
  CHECK(c == std::vector<float>(24 * 20, 96));
  gemmtune::Problem biased = problem;
  biased.bias = GEMMTUNE_BIAS_PER_COLUMN;
  CHECK(status_of([&] { handle.run(biased, operands); }) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(status_of([&] { handle.gemm(biased, 1, a.data(), b.data(), 0, c.data()); }) ==
        GEMMTUNE_STATUS_INVALID_ARGUMENT);
  alignas(16) const float bias[20] = {4};
  operands.bias = bias;
  handle.run(biased, operands);
  CHECK(c[0] == 100);
  CHECK(c[1] == 96);

  gemmtune::Handle moved = std::move(handle);
  moved.gemm(problem, 1, a.data(), b.data(), 0, c.data());
  CHECK(c == std::vector<float>(24 * 20, 96));
  handle = std::move(moved);
  CHECK(handle.get() != nullptr);
  auto other = gemmtune::Handle::from_database(fixture.database(), fake_libraries());
  other = std::move(handle);
  CHECK(other.get() != nullptr);
  CHECK(handle.get() == nullptr);  // NOLINT(bugprone-use-after-move): empty, as the class says
}

TEST_CASE("C++: failures are exceptions with the C interface's status and text") {
  const CppFixture fixture;
  CHECK(status_of([&] {
          gemmtune::Handle::from_database("/nowhere/tuned.db", fake_libraries());
        }) == GEMMTUNE_STATUS_DATABASE);
  CHECK(status_of([&] { gemmtune::Handle::from_pack("/nowhere/pack", fake_libraries()); }) ==
        GEMMTUNE_STATUS_DATABASE);
  auto handle = gemmtune::Handle::from_database(fixture.database(), fake_libraries());
  const gemmtune::Problem bad(24, -20, 16);
  CHECK(status_of([&] { handle.prewarm({&bad, 1}); }) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(status_of([&] { handle.workspace_bytes(bad); }) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(status_of([&] { handle.explain(bad); }) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  const gemmtune::Problem problems[] = {{24, 20, 16}, {0, 1, 1}};
  const auto each = handle.try_prewarm(problems);
  REQUIRE(each.size() == 2);
  CHECK(each[0] == GEMMTUNE_STATUS_SUCCESS);
  CHECK(each[1] == GEMMTUNE_STATUS_INVALID_ARGUMENT);
}

}  // namespace
