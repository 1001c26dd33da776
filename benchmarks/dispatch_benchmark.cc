// What the runtime library costs on the host, without a GPU, with 100,000 problems in the database.
// Targets: reading it under 200 ms; finding a known problem's plan under 50 ns, in the thread's own
// cache under 15 ns; no lock, so that threads do not slow each other down.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include "core/device.h"
#include "dispatch/plan_table.h"
#include "dispatch/request.h"
#include "dispatch/snapshot_source.h"
#include "dispatch/thread_cache.h"
#include "store/record_store.h"

namespace gemmtune::dispatch {
namespace {

constexpr int kProblems = 100'000;

Device device() {
  Device device;
  device.name = "NVIDIA H200";
  device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  device.arch = {9, 0, false};
  device.sm_count = 132;
  return device;
}

// Different problems, in the caller's words.
std::vector<gemmtune_problem> problems() {
  std::vector<gemmtune_problem> all;
  for (int i = 0; i < kProblems; ++i) {
    gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
    problem.m = 16 + i % 100;
    problem.n = 64 + 8 * (i / 100 % 100);
    problem.k = 256 + 32 * (i / 10'000);
    all.push_back(problem);
  }
  return all;
}

store::Entry entry(const Problem& problem, int number) {
  store::Entry entry;
  store::Record& record = entry.record;
  record.job = {problem, device().arch, device().uuid, false};
  record.key = {"double_buffer",
                "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=" + std::to_string(8 << number % 4),
                "0123456789abcdef", "13.0"};
  record.provenance = store::Provenance::measured;
  store::Measurement measurement;
  measurement.median_us = measurement.ci_low_us = measurement.ci_high_us = 10 + number % 7;
  measurement.min_us = measurement.median_us;
  measurement.final_round = true;
  measurement.sample_count = 1;
  entry.run = {{"0.1.0", "13.0", 13000, ""}, "2026-01-01T00:00:00.000Z"};
  entry.created_at = "2026-01-01T00:00:01.000Z";
  record.updated_at = entry.created_at;
  store::StoredDevice stored;
  stored.device = device();
  stored.first_seen = entry.created_at;
  entry.device = stored;
  entry.timings.push_back({measurement, entry.run});
  entry.timings.back().measurement.measured_at = entry.created_at;
  return entry;
}

// A database with one measured candidate for each problem, in a folder that goes with it.
class Database {
 public:
  Database()
      : folder_(std::filesystem::temp_directory_path() /
                ("gemmtune-bench-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    store::StoreOptions options;
    options.path = path();
    auto store = store::open_store(options).value();
    std::vector<store::Entry> entries;
    int number = 0;
    for (const gemmtune_problem& problem : problems())
      entries.push_back(entry(parse_request(problem)->problem, number++));
    const auto merged = store->merge(entries);
    if (!merged) throw std::runtime_error(merged.error().message);
    if (auto updated = store->update_winners(); !updated)
      throw std::runtime_error(updated.error().message);
  }
  ~Database() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  std::filesystem::path path() const { return folder_ / "tuned.db"; }

 private:
  std::filesystem::path folder_;
};

void read_database_100k(benchmark::State& state) {
  static const Database database;  // once, though the function is run several times
  for (auto step : state) {
    (void)step;
    const auto snapshot = read_database(database.path(), device());
    if (!snapshot || snapshot->problems.size() != kProblems)
      return state.SkipWithError("the snapshot is not what was written");
    benchmark::DoNotOptimize(snapshot);
  }
}
BENCHMARK(read_database_100k)->Unit(benchmark::kMillisecond);

// A table that has a plan for each problem, and the order in which they are asked for.
struct Prepared {
  Prepared() : asked(problems()) {
    for (const gemmtune_problem& problem : asked) index.add(parse_request(problem)->problem);
    table = std::make_unique<PlanTable>(index);
    for (const gemmtune_problem& problem : asked) {
      auto plan = std::make_unique<const Plan>();
      table->add(*parse_request(problem), plan);
    }
    std::shuffle(asked.begin(), asked.end(), std::mt19937(1));
  }

  std::vector<gemmtune_problem> asked;
  ProblemIndex index;
  std::unique_ptr<PlanTable> table;
};

const Prepared& prepared() {
  static const Prepared kPrepared;
  return kPrepared;
}

// From the caller's description to the plan, over the first `range` problems of the shuffled list.
void find_known(benchmark::State& state) {
  const Prepared& p = prepared();
  const auto range = static_cast<size_t>(state.range(0));
  size_t i = 0;
  for (auto step : state) {
    (void)step;
    const auto request = packed_request(p.asked[i]);
    const Plan* plan = p.table->find(*request);
    if (plan == nullptr) return state.SkipWithError("not found");
    benchmark::DoNotOptimize(plan);
    if (++i == range) i = 0;
  }
}
BENCHMARK(find_known)->Arg(1)->Arg(1000)->Arg(kProblems)->Threads(1)->Threads(2);

// The same for problems that are not densely packed, which are read field by field.
void find_padded(benchmark::State& state) {
  gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
  problem.m = problem.n = problem.k = 100;
  problem.lda = 104;
  ProblemIndex index;
  index.add(parse_request(problem)->problem);
  PlanTable table(index);
  auto plan = std::make_unique<const Plan>();
  table.add(*parse_request(problem), plan);
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(table.find(*parse_request(problem)));
  }
}
BENCHMARK(find_padded);

void find_in_thread_cache(benchmark::State& state) {
  const Prepared& p = prepared();
  static thread_local ThreadCache cache;
  const gemmtune_problem& problem = p.asked.front();
  cache.put(1, problem, p.table->find(*parse_request(problem)), false);
  for (auto step : state) {
    (void)step;
    const auto* entry = cache.find(1, problem);
    if (entry == nullptr) return state.SkipWithError("not found");
    benchmark::DoNotOptimize(entry);
  }
}
BENCHMARK(find_in_thread_cache)->Threads(1)->Threads(2);

}  // namespace
}  // namespace gemmtune::dispatch

BENCHMARK_MAIN();
