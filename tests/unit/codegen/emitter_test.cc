#include "codegen/emitter.h"

#include <doctest/doctest.h>

#include <random>

#include "random_spec.h"

namespace gemmtune::codegen {
namespace {

TEST_CASE("the source hash changes with the tile, and only with content") {
  std::mt19937 random(5);
  const Strategy& strategy = *strategies().front();
  const DeviceSpec& device = representative_device({8, 0, false});
  KernelSpec spec = random_legal(strategy, {}, device, random);
  const std::string hash = source_hash(emit(spec));
  CHECK(hash.size() == 16);
  CHECK(source_hash(emit(spec)) == hash);
  spec.tile.raster += 1;
  CHECK(source_hash(emit(spec)) != hash);
}

TEST_CASE("a kernel with scalars in device memory differs in its entry points only") {
  std::mt19937 random(7);
  for (const Strategy* strategy : strategies()) {
    const KernelSpec plain =
        random_legal(*strategy, {}, representative_device({8, 0, false}), random);
    KernelSpec reads = plain;
    reads.device_scalars = true;
    const KernelSource a = emit(plain);
    const KernelSource b = emit(reads);
    CHECK(a.entries != b.entries);
    CHECK(a.entries.size() == b.entries.size());
    CHECK(b.headers.size() == a.headers.size() + 1);
    CHECK(source_hash(a) != source_hash(b));
    CHECK(a.text.find("DeviceScalarArgs") == std::string::npos);
    CHECK(b.text.find("gemm.beta = *args.beta;") != std::string::npos);
  }
}

TEST_CASE("a stored strategy and config are a kernel again") {
  std::mt19937 random(8);
  const Problem problem = make_problem({1000, 999, 62}, DataType::f32, *parse_layout("tnt"));
  for (const Strategy* strategy : strategies()) {
    for (const Problem& kind : kinds_of(*strategy, {8, 0, false})) {
      Problem typed = make_problem(problem.shape, kind.type, problem.layout);
      typed.accumulator = kind.accumulator;
      typed.math = kind.math;
      const KernelSpec spec = random_legal(*strategy, kind, traits_for(typed),
                                           representative_device({8, 0, false}), random);
      const auto parsed = parse_spec(strategy->name(), to_string(spec.tile), typed);
      REQUIRE(parsed);
      CHECK(kernel_name(*parsed) == kernel_name(spec));
      CHECK(source_hash(emit(*parsed)) == source_hash(emit(spec)));
    }
  }
  for (const auto& [strategy, config] :
       {std::pair{"no_such", "tile_m=8"}, {"naive", "tile_m=8 future=1"}, {"naive", "128x128"}}) {
    const auto parsed = parse_spec(strategy, config, problem);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::unsupported);
  }
}

TEST_CASE("a standalone file includes nothing and holds every part once") {
  std::mt19937 random(6);
  for (const Strategy* strategy : strategies()) {
    const std::string text =
        emit_standalone(random_legal(*strategy, {}, representative_device({8, 0, false}), random));
    CHECK(text.find("#include") == std::string::npos);
    CHECK(text.find("#pragma once") == std::string::npos);
    const size_t first = text.find("struct GemmArgs {");
    CHECK(first != std::string::npos);
    CHECK(text.find("struct GemmArgs {", first + 1) == std::string::npos);
    CHECK(text.find("extern \"C\" __global__") != std::string::npos);
  }
}

}  // namespace
}  // namespace gemmtune::codegen
