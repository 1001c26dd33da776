// Planted faults: each file of this folder holds a kernel that is `broken` and its `correct` twin.
// The broken one must give the finding named here, the twin none. A check removed from the
// simulator fails its row.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ptxsim/simulator.h"

namespace gemmtune::ptxsim {

namespace {

constexpr int kCount = 1024;  // floats of each array

struct Fault {
  const char* file;
  FindingKind expected;
  uint32_t threads = 64;
  int n = 64;
};

const Fault kFaults[] = {
    {"off_by_one_store", FindingKind::out_of_bounds, 128, kCount},
    {"off_by_one_load", FindingKind::out_of_bounds, 128, kCount},
    {"shared_overrun", FindingKind::out_of_bounds},
    {"local_overrun", FindingKind::out_of_bounds},
    {"missing_syncthreads", FindingKind::shared_race},
    {"missing_second_syncthreads", FindingKind::shared_race},
    {"missing_syncwarp", FindingKind::shared_race},
    {"two_writers", FindingKind::shared_race},
    {"named_barrier_too_late", FindingKind::shared_race},
    {"wait_without_barrier", FindingKind::shared_race},
    {"refill_too_early", FindingKind::shared_race},
    {"wrong_named_barrier", FindingKind::deadlock},
    {"divergent_barrier", FindingKind::barrier_divergence},
    {"barrier_after_exit", FindingKind::barrier_divergence},
    {"forgotten_wait", FindingKind::missing_async_wait},
    {"wait_for_too_few", FindingKind::missing_async_wait},
    {"uninitialised_fragment", FindingKind::undefined_register, 32},
    {"uninitialised_global", FindingKind::uninitialised_global},
    {"uninitialised_shared", FindingKind::uninitialised_shared},
    {"misaligned_vector", FindingKind::misaligned},
    {"misaligned_shared", FindingKind::misaligned},
    {"shuffle_from_absent_lane", FindingKind::invalid_operand},
    {"part_of_a_warp_at_mma", FindingKind::invalid_operand},
    {"endless_loop", FindingKind::too_long},
    {"trap", FindingKind::trap},
};

Module load(const std::string& name) {
  const std::string path = std::string(GEMMTUNE_SOURCE_DIR) + "/tests/sim/faults/" + name + ".ptx";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Expected<Module> module = parse(text.str(), name);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error().message));
  return std::move(*module);
}

struct Outcome {
  RunResult result;
  std::vector<float> out;
};

Outcome launch(const Module& module, const char* kernel, uint32_t threads, int n, Options options) {
  GlobalMemory memory;
  const uint64_t bytes = kCount * sizeof(float);
  std::vector<float> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 61);
  const uint64_t in = memory.allocate(bytes, 256, "in").value();
  const uint64_t out = memory.allocate(bytes, 256, "out").value();
  const uint64_t scratch = memory.allocate(bytes, 256, "scratch").value();
  REQUIRE(memory.write(in, std::as_bytes(std::span(values))));
  LaunchConfig config;
  config.block[0] = threads;
  config.grid[0] = static_cast<uint32_t>(n) / threads + (n > 64 ? 1 : 0);
  if (n <= 64) config.grid[0] = 1;
  options.max_warp_instructions = 1 << 18;
  Expected<RunResult> result =
      run(module, kernel, config, {argument(in), argument(out), argument(scratch), argument(n)},
          memory, options);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  Outcome outcome{std::move(*result), std::vector<float>(kCount)};
  REQUIRE(memory.read(out, std::as_writable_bytes(std::span(outcome.out))));
  return outcome;
}

std::string describe(const RunResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) text += to_string(finding) + "\n";
  return text;
}

}  // namespace

TEST_CASE("every planted fault is found and its correct twin has none") {
  for (const Fault& fault : kFaults) {
    CAPTURE(fault.file);
    const Module module = load(fault.file);
    for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
      for (const uint64_t seed : {0, 1, 2}) {
        Options options;
        options.async = mode;
        options.seed = seed;
        const Outcome broken = launch(module, "broken", fault.threads, fault.n, options);
        CHECK_MESSAGE(!broken.result.findings.empty(), fault.file);
        bool found = false;
        for (const Finding& finding : broken.result.findings) {
          found = found || finding.kind == fault.expected;
          CHECK(finding.kernel == "broken");
          CHECK(finding.at.line > 0);
          CHECK_MESSAGE(!finding.source_file.empty(), to_string(finding));
          CHECK(finding.source_line > 0);
        }
        CHECK_MESSAGE(found, describe(broken.result));
        const Outcome correct = launch(module, "correct", fault.threads, fault.n, options);
        CHECK_MESSAGE(correct.result.findings.empty(), describe(correct.result));
      }
    }
  }
}

TEST_CASE("the checks can be turned off") {
  Options options;
  options.check_races = false;
  CHECK(launch(load("missing_syncwarp"), "broken", 64, 64, options).result.findings.empty());
  options.check_uninitialised = false;
  CHECK(launch(load("uninitialised_global"), "broken", 64, 64, options).result.findings.empty());
  CHECK(launch(load("uninitialised_shared"), "broken", 64, 64, options).result.findings.empty());
}

TEST_CASE("a wrong swizzle on one side gives a wrong result, not a finding") {
  const Module module = load("wrong_swizzle");
  const Outcome broken = launch(module, "broken", 64, 64, {});
  const Outcome correct = launch(module, "correct", 64, 64, {});
  CHECK_MESSAGE(broken.result.findings.empty(), describe(broken.result));
  CHECK_MESSAGE(correct.result.findings.empty(), describe(correct.result));
  CHECK(broken.out != correct.out);
  for (size_t i = 0; i < 64; ++i) CHECK(correct.out[i] == static_cast<float>(i % 61));
}

TEST_CASE("a forgotten wait gives stale data with late arrival only") {
  const Module module = load("forgotten_wait");
  Options options;
  options.async = AsyncMode::early;
  CHECK(launch(module, "broken", 64, 64, options).out[5] == 5.0F);
  options.async = AsyncMode::late;
  CHECK(launch(module, "broken", 64, 64, options).out[5] != 5.0F);
  CHECK(launch(module, "correct", 64, 64, options).out[5] == 5.0F);
}

TEST_CASE("bank conflicts are counted for each access") {
  const Module module = load("bank_conflicts");
  Options options;
  options.profile = true;
  const auto conflicts = [&](const char* kernel) {
    uint64_t sum = 0;
    for (const AccessCounts& access :
         launch(module, kernel, 64, kCount, options).result.profile.accesses) {
      if (access.space == Space::shared) sum += access.bank_conflicts();
    }
    return sum;
  };
  // Each block reads 32 columns of 32 rows: 31 passes too many for each.
  const uint64_t blocks = kCount / 64 + 1;
  CHECK(conflicts("broken") == blocks * 32 * 31);
  CHECK(conflicts("correct") == 0);
}

TEST_CASE("coalescing is counted for each access") {
  const Module module = load("uncoalesced");
  Options options;
  options.profile = true;
  const auto load_of = [&](const char* kernel) {
    AccessCounts loads;
    for (const AccessCounts& access :
         launch(module, kernel, 32, kCount, options).result.profile.accesses) {
      if (access.space == Space::global && access.category == InstructionClass::load) {
        loads.sectors += access.sectors;
        loads.ideal_sectors += access.ideal_sectors;
      }
    }
    return loads;
  };
  CHECK(load_of("correct").coalescing() == doctest::Approx(1.0));
  CHECK(load_of("broken").coalescing() == doctest::Approx(4.0 / 32.0));
}

}  // namespace gemmtune::ptxsim
