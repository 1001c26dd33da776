// A strategy with architecture-specific code and a tensor map, from its text to the simulator.
#include <doctest/doctest.h>

#include "codegen/emitter.h"
#include "sim_kernel.h"
#include "tma_strategy.h"

namespace gemmtune::tuner {
namespace {

codegen::KernelSpec tma_spec() {
  return codegen::spec_for(codegen::tma_copy(), *parse_tile("tile_m=32 tile_n=32"),
                           make_problem({64, 64, 64}), {9, 0, false});
}

bool has(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

TEST_CASE("a kernel with a tensor map is emitted with its parameter and what it must hold") {
  const std::string text = codegen::emit_standalone(tma_spec());
  CHECK(has(text, "-arch=sm_90a "));
  CHECK(has(text, "const __grid_constant__ gemmtune::TensorMap arg1"));
  CHECK(has(text, "struct alignas(64) TensorMap"));
  CHECK(has(text, "arg1: a CUtensorMap of A"));
  CHECK(has(text, "box 32 x 32 elements"));
}

TEST_CASE("it compiles for the arch that it names, and for no other") {
  const codegen::KernelSpec spec = tma_spec();
  const auto compiled = compiler().compile({codegen::emit(spec), spec.arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  CHECK(to_string(compiled->arch) == "sm_90a");
  CHECK_FALSE(compiler().compile({codegen::emit(spec), {8, 0, false}, {}}).has_value());
}

TEST_CASE("the simulator names the first instruction that it lacks") {
  const auto kernel = SimVerifier::load(tma_spec(), compiler());
  REQUIRE_FALSE(kernel);
  CHECK(kernel.error().kind == ErrorKind::unsupported);
  CHECK_MESSAGE(has(kernel.error().message, "mbarrier"), kernel.error().message);
}

}  // namespace
}  // namespace gemmtune::tuner
