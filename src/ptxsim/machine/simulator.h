// Runs CUDA kernels on the CPU from their PTX, and reports what a GPU hides.
//
//   parse() -> Module -> decode() -> Program -> run() -> RunResult
//
// Semantics follow the PTX ISA document. Within a warp, diverged lanes meet again at the immediate
// post-dominator; warps and blocks are interleaved in an order that Options::seed chooses. A
// correct kernel gives the same result under every order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/launch_config.h"
#include "ptxsim/decode/program.h"
#include "ptxsim/machine/global_memory.h"
#include "ptxsim/report/finding.h"
#include "ptxsim/report/profile.h"
#include "ptxsim/syntax/parser.h"

namespace gemmtune::ptxsim {

// When the data of an asynchronous copy arrives: at once, or when it is waited for. A correct
// kernel gives the same result with both.
enum class AsyncMode : uint8_t { early, late };
constexpr std::string_view name_of(AsyncMode mode) {
  return mode == AsyncMode::early ? "early" : "late";
}

struct Options {
  AsyncMode async = AsyncMode::late;
  bool check_races = true;          // shared memory: races and missing waits
  bool check_uninitialised = true;  // global and shared memory, registers
  bool profile = false;
  uint32_t threads = 0;  // host threads; 0: all of the machine's
  // One that reports nothing. The tests show by it that a planted fault is found by its check
  // alone.
  std::optional<Check> disabled_check;
  size_t max_findings = 100;  // distinct ones kept; the others are only counted
  uint64_t seed = 0;          // order of blocks and warps; 0: ascending
  // A warp that executes more than this is reported as too_long and its block ended.
  uint64_t max_warp_instructions = uint64_t{1} << 32;
};

// An argument's bytes, as the kernel's parameter expects them.
using Arguments = std::vector<std::vector<std::byte>>;

// The bytes of one argument.
template <class T>
std::vector<std::byte> argument(const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return {first, first + sizeof(T)};
}

struct RunResult {
  std::vector<Finding> findings;  // by place in the program; empty for a correct kernel
  uint64_t findings_dropped = 0;  // distinct ones beyond Options::max_findings
  Profile profile;
};

// Executes one launch to its end; findings are part of the result, not an error. Module variables
// hold their initial values at the start of each run. Fails with ErrorKind::usage when the launch
// does not fit the kernel: wrong number or size of arguments, more than 1024 threads, .reqntid,
// .maxntid, a cluster that does not divide the grid, too much shared memory (227 KiB).
// `memory` is left as the kernel left it.
Expected<RunResult> run(const Program& program, const LaunchConfig& launch,
                        const Arguments& arguments, GlobalMemory& memory,
                        const Options& options = {});

// decode() and run().
Expected<RunResult> run(const Module& module, std::string_view kernel, const LaunchConfig& launch,
                        const Arguments& arguments, GlobalMemory& memory,
                        const Options& options = {});

}  // namespace gemmtune::ptxsim
