// Lane-instructions a second of the simulator, on one host thread. The target is 50 million with
// the checks of races and uninitialised reads on.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "ptxsim/machine/simulator.h"

namespace {

using namespace gemmtune::ptxsim;

Program load(const std::string& file, const std::string& kernel) {
  std::ifstream stream(std::string(GEMMTUNE_SOURCE_DIR) + "/tests/unit/ptxsim/kernels/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  const auto module = parse(text.str(), file);
  if (!module) {
    std::cerr << module.error().message << "\n";
    std::exit(1);
  }
  auto program = decode(*module, kernel);
  if (!program) {
    std::cerr << program.error().message << "\n";
    std::exit(1);
  }
  return std::move(*program);
}

uint64_t zeros(GlobalMemory& memory, uint64_t bytes, const char* label) {
  return memory.allocate(bytes, 256, label, GlobalMemory::Initial::zero).value();
}

Options options_for(bool checks, bool profile) {
  Options options;
  options.threads = 1;
  options.check_races = checks;
  options.check_uninitialised = checks;
  options.profile = profile;
  return options;
}

void report(benchmark::State& state, const Profile& profile, uint64_t runs) {
  state.counters["lane_instructions/s"] = benchmark::Counter(
      static_cast<double>(profile.total.lane_instructions * runs), benchmark::Counter::kIsRate);
}

// Arguments: checks, profile.
void simt_gemm(benchmark::State& state) {
  struct {
    uint64_t a, b, c;
    int32_t m = 256, n = 256, k = 128, padding = 0;
    int64_t lda = 128, ldb = 256, ldc = 256;
    float alpha = 1, beta = 0;
  } arguments;
  const Program program = load("sgemm.ptx", "sgemm");
  GlobalMemory memory;
  arguments.a = zeros(memory, 256 * 128 * 4, "A");
  arguments.b = zeros(memory, 128 * 256 * 4, "B");
  arguments.c = zeros(memory, 256 * 256 * 4, "C");
  gemmtune::LaunchConfig launch;
  launch.grid[0] = launch.grid[1] = 4;
  launch.block[0] = 128;
  launch.dynamic_smem_bytes = 8 * 68 * 4;
  Profile profile;
  uint64_t runs = 0;
  for (auto _ : state) {
    const auto result = run(program, launch, {argument(arguments)}, memory,
                            options_for(state.range(0) != 0, state.range(1) != 0));
    profile = result.value().profile;
    ++runs;
  }
  report(state, profile, runs);
}
BENCHMARK(simt_gemm)->Args({0, 0})->Args({1, 0})->Args({1, 1})->Unit(benchmark::kMillisecond);

void tensor_tile(benchmark::State& state) {
  const Program program = load("tensor.ptx", "mma_f16");
  GlobalMemory memory;
  const uint64_t a = zeros(memory, 512, "A");
  const uint64_t b = zeros(memory, 256, "B");
  const uint64_t c = zeros(memory, 512, "C");
  gemmtune::LaunchConfig launch;
  launch.grid[0] = 256;
  launch.block[0] = 32;
  Profile profile;
  uint64_t runs = 0;
  for (auto _ : state) {
    const auto result = run(program, launch, {argument(a), argument(b), argument(c)}, memory,
                            options_for(state.range(0) != 0, false));
    profile = result.value().profile;
    ++runs;
  }
  report(state, profile, runs);
}
BENCHMARK(tensor_tile)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
