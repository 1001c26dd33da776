// Clusters: distributed shared memory, their barrier, and what goes wrong with them.
#include <algorithm>

#include "fixture.h"

namespace gemmtune::ptxsim::testing {

namespace {

struct Rotation {
  RunResult result;
  std::vector<float> in, out;
};

Rotation rotate(const std::string& kernel, uint64_t seed) {
  const Module module = load_module("cluster.ptx");
  GlobalMemory memory;
  Rotation outcome;
  outcome.in = random_floats(512, 1);
  const Buffer<float> in(memory, outcome.in, "in");
  const Buffer<float> out(memory, 512, "out");
  LaunchConfig launch;
  launch.grid[0] = 8;
  launch.cluster[0] = 4;
  launch.block[0] = 64;
  Options options;
  options.seed = seed;
  outcome.result = run_ok(module, kernel, launch, {argument(in.address()), argument(out.address())},
                          memory, options);
  outcome.out = out.get();
  return outcome;
}

bool has(const RunResult& result, FindingKind kind) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.kind == kind; });
}

}  // namespace

TEST_CASE("blocks of a cluster read one another's shared memory") {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const Rotation outcome = rotate("rotate_correct", seed);
    CHECK_MESSAGE(outcome.result.findings.empty(), describe(outcome.result));
    for (size_t i = 0; i < 512; ++i) {
      const size_t block = i / 64;
      const size_t from = block / 4 * 4 + (block + 1) % 4;
      CHECK(outcome.out[i] == outcome.in[from * 64 + i % 64]);
    }
  }
}

TEST_CASE("a missing cluster barrier is found") {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const Rotation outcome = rotate("rotate_race", seed);
    CHECK_MESSAGE((has(outcome.result, FindingKind::shared_race) ||
                   has(outcome.result, FindingKind::uninitialised_shared)),
                  describe(outcome.result));
  }
}

TEST_CASE("a block that ends while others still read its shared memory is found") {
  bool found = false;
  for (const uint64_t seed : {0, 1, 2, 3}) {
    found = found || has(rotate("rotate_early_end", seed).result, FindingKind::out_of_bounds);
  }
  CHECK(found);
}

}  // namespace gemmtune::ptxsim::testing
