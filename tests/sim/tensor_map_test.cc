// A strategy with architecture-specific code and a tensor map, from its text to the simulator.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "codegen/emitter.h"
#include "sim_kernel.h"
#include "tma_strategy.h"
#include "tuner/verify/sim_arguments.h"

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
  CHECK(has(text, "-gencode arch=compute_90a,code=sm_90a "));
  CHECK(has(text, "const __grid_constant__ TensorMap arg1"));
  CHECK(has(text, "struct alignas(64) TensorMap"));
  CHECK(has(text, "arg1: CU_TENSOR_MAP_DATA_TYPE_FLOAT32 at args.a,"));
  CHECK(has(text, "extents k x m elements, strides 4 * lda bytes,"));
  CHECK(has(text, "box 32 x 32, CU_TENSOR_MAP_SWIZZLE_NONE"));
}

TEST_CASE("it compiles for the arch that it names, and for no other") {
  const codegen::KernelSpec spec = tma_spec();
  const auto compiled = compiler().compile({codegen::emit(spec), spec.arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  CHECK(to_string(compiled->arch) == "sm_90a");
  CHECK_FALSE(compiler().compile({codegen::emit(spec), {8, 0, false}, {}}).has_value());
}

TEST_CASE("the simulator executes it, and its copies may arrive early or late") {
  const codegen::KernelSpec spec = tma_spec();
  const codegen::KernelSource source = codegen::emit(spec);
  const auto compiled = compiler().compile_to_ptx({source, spec.arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  const auto module = ptxsim::parse(compiled->ptx, source.name);
  REQUIRE_MESSAGE(module.has_value(), module.error().message);
  // The extents are no multiples of the tile's.
  const Problem problem = make_problem({50, 44, 44});
  const codegen::KernelLaunch launch = spec.strategy->launch_plan(spec, problem).launches.front();
  for (const ptxsim::AsyncMode mode : {ptxsim::AsyncMode::early, ptxsim::AsyncMode::late}) {
    ptxsim::GlobalMemory memory;
    std::vector<float> a(size_t{50} * 44);
    std::iota(a.begin(), a.end(), 1.0F);
    const uint64_t from = memory.allocate(a.size() * sizeof(float), 256, "A").value();
    const uint64_t to = memory.allocate(a.size() * sizeof(float), 256, "C").value();
    REQUIRE(memory.write(from, std::as_bytes(std::span(a))));
    launch::Operands operands;
    operands.a = reinterpret_cast<const void*>(from);  // NOLINT: an address of simulated memory
    operands.c = reinterpret_cast<void*>(to);          // NOLINT
    const auto arguments = simulated_arguments(launch, problem, false, operands);
    REQUIRE_MESSAGE(arguments.has_value(), arguments.error().message);
    ptxsim::Options options;
    options.async = mode;
    const auto ran =
        ptxsim::run(*module, source.entries.front(), launch.config, *arguments, memory, options);
    REQUIRE_MESSAGE(ran.has_value(), ran.error().message);
    for (const ptxsim::Finding& finding : ran->findings) FAIL_CHECK(to_string(finding));
    std::vector<float> c(a.size());
    REQUIRE(memory.read(to, std::as_writable_bytes(std::span(c))));
    CHECK(c == a);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
