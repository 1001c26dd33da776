// The simulator against outputs recorded on a device (expected/), and: every
// instruction the simulator knows stands in at least one case.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "cases.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/machine/simulator.h"

namespace gemmtune::ptxsim::hardware {

namespace {

std::vector<std::byte> simulate(const Case& test, const Options& options) {
  const Expected<Module> module = parse(test.ptx, test.name);
  REQUIRE_MESSAGE(module.has_value(), (module ? "" : module.error().message));
  GlobalMemory memory;
  const uint64_t in = memory.allocate(test.input.size(), 256, "in").value();
  const uint64_t out =
      memory.allocate(test.output_bytes, 256, "out", GlobalMemory::Initial::zero).value();
  REQUIRE(memory.write(in, test.input));
  LaunchConfig launch;
  launch.grid[0] = test.grid;
  launch.block[0] = test.block;
  const Expected<RunResult> result =
      run(*module, "test", launch, {argument(in), argument(out)}, memory, options);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  for (const Finding& finding : result->findings) MESSAGE(to_string(finding));
  CHECK_MESSAGE(result->findings.empty(), test.name);
  std::vector<std::byte> output(test.output_bytes);
  REQUIRE(memory.read(out, output));
  return output;
}

template <class T>
bool close(const std::byte* got, const std::byte* want, const Tolerance& tolerance) {
  T a;
  T b;
  std::memcpy(&a, got, sizeof a);
  std::memcpy(&b, want, sizeof b);
  if (std::memcmp(got, want, sizeof a) == 0) return true;
  const double unit = std::abs(static_cast<double>(std::nextafter(b, INFINITY)) - b);
  const double error = std::abs(static_cast<double>(a) - b);
  return error <= tolerance.ulps * unit || error <= tolerance.absolute;
}

size_t count_differences(const Case& test, const std::vector<std::byte>& got,
                         const std::vector<std::byte>& want) {
  const size_t width = test.element == Element::bits8                                    ? 1
                       : test.element == Element::f64 || test.element == Element::bits64 ? 8
                                                                                         : 4;
  size_t wrong = 0;
  for (size_t i = 0; i + width <= want.size(); i += width) {
    bool same = std::memcmp(&got[i], &want[i], width) == 0;
    if (test.element == Element::f32) same = close<float>(&got[i], &want[i], test.tolerance);
    if (test.element == Element::f64) same = close<double>(&got[i], &want[i], test.tolerance);
    wrong += same ? 0 : 1;
  }
  return wrong;
}

// What the simulator gives where each warp reads the number from its undetermined register that
// makes it agree with `want`; a warp for which none does keeps its words of number 0.
std::vector<std::byte> simulate_undetermined(const Case& test, const std::vector<std::byte>& want) {
  const size_t warp_bytes = test.output_bytes / (test.grid * test.block) * 32;
  const std::string read = "mov.u32 " + test.undetermined + ";";
  const std::string destination = test.undetermined.substr(0, test.undetermined.find(','));
  const size_t at = test.ptx.find(read);
  REQUIRE(at != std::string::npos);
  std::vector<std::byte> out;
  for (uint32_t number = 0; number < kMostUndetermined; ++number) {
    Case fixed = test;
    fixed.ptx.replace(at, read.size(),
                      "mov.u32 " + destination + ", " + std::to_string(number) + ";");
    const std::vector<std::byte> got = simulate(fixed, {});
    if (out.empty()) out = got;
    for (size_t warp = 0; warp < want.size(); warp += warp_bytes) {
      if (std::memcmp(&got[warp], &want[warp], warp_bytes) == 0) {
        std::memcpy(&out[warp], &got[warp], warp_bytes);
      }
    }
  }
  return out;
}

std::set<std::string> opcodes_of(const std::string& ptx) {
  std::set<std::string> out;
  const Expected<Module> module = parse(ptx, "case");
  REQUIRE(module.has_value());
  for (const ast::Function& function : module->functions) {
    for (const ast::Statement& statement : function.body) {
      if (const auto* in = std::get_if<ast::Instruction>(&statement)) {
        out.insert(std::string(in->opcode));
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("case names are unique and can be file names") {
  std::set<std::string> names;
  for (const Case& test : all_cases()) {
    CHECK_MESSAGE(names.insert(test.name).second, test.name);
    CHECK(test.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789._") == std::string::npos);
  }
}

TEST_CASE("every instruction that the simulator knows is in some case") {
  std::set<std::string> used;
  for (const Case& test : all_cases()) used.merge(opcodes_of(test.ptx));
  // No result to compare, or nothing recorded yet: the latter three.
  const std::set<std::string> exempt = {"pmevent",  "applypriority", "griddepcontrol",
                                        "mbarrier", "wgmma",         "setmaxnreg"};
  for (const std::string_view opcode : InstructionSet::all().opcodes()) {
    if (exempt.count(std::string(opcode)) != 0) continue;
    CHECK_MESSAGE(used.count(std::string(opcode)) == 1, opcode);
  }
}

TEST_CASE("the simulator runs every case without a finding, the same in every order") {
  for (const Case& test : all_cases()) {
    CAPTURE(test.name);
    Options options;
    options.threads = 1;
    const std::vector<std::byte> first = simulate(test, options);
    options.async = AsyncMode::early;
    options.seed = 5;
    CHECK(simulate(test, options) == first);
  }
}

TEST_CASE("the simulator agrees with the recorded outputs of a device") {
  const std::string folder = std::string(GEMMTUNE_SOURCE_DIR) + "/tests/sim/hardware/expected";
  size_t equal = 0;
  size_t within = 0;
  for (const Case& test : all_cases()) {
    const std::vector<std::byte> want = read_expected(folder, test);
    CHECK_MESSAGE(want.size() == test.output_bytes, test.name);  // 0: record it
    if (want.size() != test.output_bytes) continue;
    const std::vector<std::byte> got =
        test.undetermined.empty() ? simulate(test, {}) : simulate_undetermined(test, want);
    const size_t wrong = count_differences(test, got, want);
    CHECK_MESSAGE(wrong == 0, test.name);
    equal += got == want ? 1 : 0;
    within += got != want && wrong == 0 ? 1 : 0;
  }
  MESSAGE(equal, " cases are bit-equal, ", within, " within their stated bound");
}

}  // namespace gemmtune::ptxsim::hardware
