// How fast kernels compile, and how fast they come from the cache. Targets: at least 3 kernels a
// second a core; under 1 ms a cached kernel.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "codegen/emitter.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "jit/compile_pool.h"
#include "jit/compiler.h"

namespace gemmtune {
namespace {

std::optional<jit::Nvrtc> find_nvrtc() {
  jit::NvrtcLocations locations;
  if (const char* library = std::getenv("GEMM_TUNE_NVRTC")) locations.library = library;
  if (const char* home = std::getenv("CUDA_HOME")) locations.cuda_homes = {home};
  locations.bundled = {std::string(GEMMTUNE_SOURCE_DIR) + "/.deps/cuda"};
  auto loaded = jit::Nvrtc::load(jit::nvrtc_candidates(locations));
  if (!loaded) return std::nullopt;
  return *std::move(loaded);
}

// `count` legal double_buffer tiles spread evenly over the whole space, as requests for sm_80.
std::vector<jit::CompileRequest> spread_requests(std::size_t count) {
  const auto* const strategy = codegen::find_strategy("double_buffer").value();
  const auto space = codegen::default_search_space(*strategy).value();
  const Arch arch{8, 0, false};
  const Problem problem = make_problem({5120, 5120, 4096});
  const auto legal = codegen::enumerate(space, problem, representative_device(arch)).legal;
  std::vector<jit::CompileRequest> out;
  for (std::size_t i = 0; i < count; ++i) {
    const TileConfig& tile = legal[i * legal.size() / count];
    out.push_back({codegen::emit(codegen::spec_for(*strategy, tile, problem, arch)), arch, {}});
  }
  return out;
}

void compile_one(benchmark::State& state) {
  const auto nvrtc = find_nvrtc();
  if (!nvrtc) return state.SkipWithError("no NVRTC");
  const auto requests = spread_requests(24);
  std::size_t i = 0;
  for (auto step : state) {
    (void)step;
    const auto result = jit::compile(*nvrtc, requests[i++ % requests.size()]);
    if (!result) return state.SkipWithError(result.error().first_error.c_str());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(compile_one)->Unit(benchmark::kMillisecond)->Iterations(24);

void compile_pool(benchmark::State& state) {
  const auto nvrtc = find_nvrtc();
  if (!nvrtc) return state.SkipWithError("no NVRTC");
  const auto compiler = std::make_shared<const jit::Compiler>(*nvrtc);
  const auto requests = spread_requests(24);
  for (auto step : state) {
    (void)step;
    jit::CompilePool pool(compiler, static_cast<int>(state.range(0)));
    for (std::size_t i = 0; i < requests.size(); ++i) pool.submit(i, requests[i]);
    while (pool.next()) {
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(requests.size()));
}
BENCHMARK(compile_pool)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void compile_to_ptx(benchmark::State& state) {
  const auto nvrtc = find_nvrtc();
  if (!nvrtc) return state.SkipWithError("no NVRTC");
  const auto requests = spread_requests(8);
  std::size_t i = 0;
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(jit::compile_to_ptx(*nvrtc, requests[i++ % requests.size()]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(compile_to_ptx)->Unit(benchmark::kMillisecond)->Iterations(8);

// The whole way of a hit: key, read, check, hand over.
void cached(benchmark::State& state) {
  const auto nvrtc = find_nvrtc();
  if (!nvrtc) return state.SkipWithError("no NVRTC");
  const auto dir = std::filesystem::temp_directory_path() /
                   ("gemmtune-jit-benchmark-" + std::to_string(::getpid()));
  const jit::Compiler compiler(*nvrtc, std::make_shared<jit::CubinCache>(dir));
  const auto request = spread_requests(1).front();
  const auto first = compiler.compile(request);
  for (auto step : state) {
    (void)step;
    const auto hit = compiler.compile(request);
    if (!hit || !hit->from_cache) {
      state.SkipWithError("not a hit");
      break;
    }
  }
  if (first) state.counters["cubin_bytes"] = static_cast<double>(first->cubin.size());
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
}
BENCHMARK(cached)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gemmtune

BENCHMARK_MAIN();
