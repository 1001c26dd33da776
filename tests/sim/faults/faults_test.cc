// Planted faults: each file of this folder holds a kernel that is `broken` and its `correct` twin.
// The broken one must fail the check named here, the twin none. Every check has a fault of which
// nothing else gives a finding of that kind, so a check that is removed from the simulator fails a
// row.
//
// A file's PTX comes from nvcc -ptx -lineinfo -arch=sm_80 NAME.cu -o NAME.ptx (sm_90a for those
// that include hopper.cuh), with the folders cut off the names in its .file lines.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ptxsim/machine/simulator.h"
#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim {

namespace {

constexpr int kCount = 1024;  // floats of each array

struct Size {
  uint32_t threads = 64;  // a block
  int n = 64;             // the kernel's argument; above 64 it decides the number of blocks
  uint32_t cluster = 1;   // blocks
  bool has_map = false;   // a fifth argument: a tensor map of `in` as 32 x 32
};

struct Fault {
  const char* file;
  Check check;  // that finds it
  Size size = {};
};

const Fault kFaults[] = {
    {"off_by_one_store", Check::global_bounds, {128, kCount}},
    {"off_by_one_load", Check::global_bounds, {128, kCount}},
    {"copy_source_overrun", Check::global_bounds},
    {"shared_overrun", Check::shared_bounds},
    {"copy_destination_overrun", Check::shared_bounds},
    {"local_overrun", Check::local_bounds},
    {"parameter_overrun", Check::parameter_bounds},
    {"ended_block", Check::ended_block, {32, 64, 2}},
    {"misaligned_vector", Check::global_alignment},
    {"misaligned_shared", Check::shared_alignment},
    {"misaligned_local", Check::local_alignment},
    {"misaligned_parameter", Check::parameter_alignment},
    {"uninitialised_global", Check::global_written},
    {"uninitialised_atomic", Check::global_written},
    {"uninitialised_copy_source", Check::global_written},
    {"uninitialised_shared", Check::shared_written},
    {"uninitialised_guard", Check::guard_written},
    {"uninitialised_fragment", Check::operand_written, {32}},
    {"uninitialised_choice", Check::operand_written},
    {"missing_syncthreads", Check::read_after_write},
    {"missing_syncwarp", Check::read_after_write},
    {"named_barrier_too_late", Check::read_after_write},
    {"wait_without_barrier", Check::read_after_write},
    {"two_writers", Check::write_after_write},
    {"atomic_beside_store", Check::write_after_write},
    {"missing_second_syncwarp", Check::write_after_read},
    {"missing_second_syncthreads", Check::write_after_read},
    {"refill_too_early", Check::write_after_read},
    {"copy_over_read", Check::write_after_read},
    {"forgotten_wait", Check::read_of_pending},
    {"wait_for_too_few", Check::read_of_pending},
    {"store_over_pending_copy", Check::write_of_pending},
    {"copy_over_pending_copy", Check::write_of_pending},
    {"divergent_barrier", Check::warp_at_barrier},
    {"divergent_cluster_barrier", Check::warp_at_cluster_barrier, {64, 64, 2}},
    {"barrier_after_exit", Check::ended_threads},
    {"wrong_named_barrier", Check::progress},
    {"endless_loop", Check::length},
    {"constant_store", Check::constant_store},
    {"parameter_store", Check::parameter_store},
    {"branch_beyond_table", Check::branch_index},
    {"barrier_differs_in_warp", Check::uniform_barrier},
    {"no_such_barrier", Check::barrier_range},
    {"barrier_counts_differ", Check::barrier_count},
    {"part_of_a_warp_at_mma", Check::matrix_lanes},
    {"matrix_addresses_differ", Check::matrix_address, {32}},
    {"shuffle_from_absent_lane", Check::shuffle_source},
    {"copy_size", Check::copy_size},
    {"trap", Check::trap},
    {"bulk_forgotten_wait", Check::read_of_pending},
    {"bulk_without_wait", Check::bulk_wait},
    {"bulk_wrong_stage", Check::read_of_pending},
    {"bulk_refill_too_early", Check::write_after_read},
    {"bulk_wrong_parity", Check::progress},
    {"bulk_too_few_bytes", Check::progress},
    {"bulk_overrun", Check::shared_bounds},
    {"mbarrier_used_too_early", Check::mbarrier_init},
    {"mbarrier_overwritten", Check::mbarrier_overwritten},
    {"mbarrier_two_producers", Check::mbarrier_count},
    {"store_without_fence", Check::proxy_fence},
    {"store_without_wait", Check::bulk_wait},
    {"store_source_rewritten", Check::write_after_read},
    {"tensor_map_dimensions", Check::tensor_map, {64, 64, 1, true}},
    {"setmaxnreg_count", Check::register_count, {128}},
    {"wgmma_without_wait", Check::wgmma_registers, {128}},
    {"wgmma_without_fence", Check::wgmma_fence, {128}},
    {"wgmma_without_proxy_fence", Check::proxy_fence, {128}},
    {"wgmma_overrun", Check::shared_bounds, {128}},
    {"wgmma_misaligned", Check::shared_alignment, {128}},
    {"wgmma_refill_too_early", Check::write_after_read, {128}},
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

Outcome launch(const Module& module, const char* kernel, const Size& size, Options options) {
  GlobalMemory memory;
  const uint64_t bytes = kCount * sizeof(float);
  std::vector<float> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 61);
  const uint64_t in = memory.allocate(bytes, 256, "in").value();
  const uint64_t out = memory.allocate(bytes, 256, "out").value();
  const uint64_t scratch = memory.allocate(bytes, 256, "scratch").value();
  REQUIRE(memory.write(in, std::as_bytes(std::span(values))));
  LaunchConfig config;
  config.block[0] = size.threads;
  config.cluster[0] = size.cluster;
  config.grid[0] = size.n > 64 ? static_cast<uint32_t>(size.n) / size.threads + 1 : size.cluster;
  options.max_warp_instructions = 1 << 18;
  Arguments arguments = {argument(in), argument(out), argument(scratch), argument(size.n)};
  if (size.has_map) {
    TensorMap map{in, {}};
    map.config.extent = {32, 32};
    map.config.stride_bytes = {128};
    map.config.box = {32, 2};
    arguments.push_back(argument(encode(map)));
  }
  Expected<RunResult> result = run(module, kernel, config, arguments, memory, options);
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

// Of memory, so that a finding has an address.
bool has_address(const Finding& finding) {
  if (finding.check == Check::wgmma_registers) return false;
  switch (finding.kind) {
    case FindingKind::out_of_bounds:
    case FindingKind::misaligned:
    case FindingKind::uninitialised_global:
    case FindingKind::uninitialised_shared:
    case FindingKind::shared_race:
    case FindingKind::missing_async_wait:
    case FindingKind::read_only:
      return true;
    default:
      return false;
  }
}

void check_finding(const Finding& finding, const Size& size) {
  CAPTURE(to_string(finding));
  CHECK(finding.kernel == "broken");
  CHECK(finding.kind == kind_of(finding.check));
  CHECK(finding.at.line > 0);
  CHECK(!finding.source_file.empty());
  CHECK(finding.source_line > 0);
  CHECK(finding.thread.x < size.threads);
  CHECK((finding.address != 0 || !has_address(finding)));
  CHECK(!finding.message.empty());
}

}  // namespace

TEST_CASE("every planted fault is found and its correct twin has none") {
  for (const Fault& fault : kFaults) {
    CAPTURE(std::string(fault.file));
    const Module module = load(fault.file);
    for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
      for (const uint64_t seed : {0, 1, 2}) {
        Options options;
        options.async = mode;
        options.seed = seed;
        const Outcome broken = launch(module, "broken", fault.size, options);
        bool found = false;
        for (const Finding& finding : broken.result.findings) {
          found = found || finding.check == fault.check;
          check_finding(finding, fault.size);
        }
        CHECK_MESSAGE(found, describe(broken.result));
        const Outcome correct = launch(module, "correct", fault.size, options);
        CHECK_MESSAGE(correct.result.findings.empty(), describe(correct.result));
      }
    }
  }
}

TEST_CASE("every check has a planted fault that no other check of its kind finds") {
  std::set<Check> alone;
  for (const Fault& fault : kFaults) {
    Options options;
    options.disabled_check = fault.check;
    const auto findings = launch(load(fault.file), "broken", fault.size, options).result.findings;
    const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.kind == kind_of(fault.check);
    });
    if (!found) alone.insert(fault.check);
  }
  for (int i = 0; i < kChecks; ++i)
    CHECK_MESSAGE(alone.contains(static_cast<Check>(i)), name_of(static_cast<Check>(i)));
}

TEST_CASE("every kind of finding has a check, and every check a name") {
  std::set<FindingKind> kinds;
  std::set<std::string_view> names;
  for (int i = 0; i < kChecks; ++i) {
    kinds.insert(kind_of(static_cast<Check>(i)));
    names.insert(name_of(static_cast<Check>(i)));
  }
  CHECK(kinds.size() == kFindingKinds);
  CHECK(names.size() == kChecks);
}

TEST_CASE("the checks can be turned off") {
  Options options;
  options.check_races = false;
  CHECK(launch(load("missing_syncwarp"), "broken", {}, options).result.findings.empty());
  options.check_uninitialised = false;
  CHECK(launch(load("uninitialised_global"), "broken", {}, options).result.findings.empty());
  CHECK(launch(load("uninitialised_shared"), "broken", {}, options).result.findings.empty());
}

TEST_CASE("a wrong swizzle on one side gives a wrong result, not a finding") {
  const Module module = load("wrong_swizzle");
  const Outcome broken = launch(module, "broken", {}, {});
  const Outcome correct = launch(module, "correct", {}, {});
  CHECK_MESSAGE(broken.result.findings.empty(), describe(broken.result));
  CHECK_MESSAGE(correct.result.findings.empty(), describe(correct.result));
  CHECK(broken.out != correct.out);
  for (size_t i = 0; i < 64; ++i) CHECK(correct.out[i] == static_cast<float>(i % 61));
}

TEST_CASE("a forgotten wait gives stale data with late arrival only") {
  const Module module = load("forgotten_wait");
  Options options;
  options.async = AsyncMode::early;
  CHECK(launch(module, "broken", {}, options).out[5] == 5.0F);
  options.async = AsyncMode::late;
  CHECK(launch(module, "broken", {}, options).out[5] != 5.0F);
  CHECK(launch(module, "correct", {}, options).out[5] == 5.0F);
}

TEST_CASE("bank conflicts are counted for each access") {
  const Module module = load("bank_conflicts");
  Options options;
  options.profile = true;
  const auto conflicts = [&](const char* kernel) {
    uint64_t sum = 0;
    for (const AccessCounts& access :
         launch(module, kernel, {64, kCount}, options).result.profile.accesses) {
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
         launch(module, kernel, {32, kCount}, options).result.profile.accesses) {
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
