// How long a search takes to its first candidate and to all its seeds: for a few problems, the time
// and the processor time of finding the spaces that hold a tile to try and of ranking them.
// and what a batch of proposals takes once they were reported and similar problems learnt from.
//
//   search_start_benchmark [THREADS [exhaustive]]
//
// The last column is the same for the same seeds. "exhaustive" looks at every point before the
// first is proposed, as the bounds of costs allow not to.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/known_calibration.h"
#include "tuner/model/performance_model.h"
#include "tuner/search/ranked_space.h"

namespace {

using namespace gemmtune;

constexpr size_t kSeeds = 126;  // of a search on a device
// Of similar problems: as many as a search learns from.
constexpr size_t kLearnt = 1440;
constexpr size_t kBatch = 8;
constexpr int kBatches = 4;

struct Case {
  Problem problem;
  std::string_view device;
};

Problem problem_of(Shape shape, DataType type, std::string_view layout) {
  return make_problem(shape, type, *parse_layout(layout));
}

std::vector<Case> cases() {
  constexpr DataType f32 = DataType::f32;
  constexpr DataType f16 = DataType::f16;
  constexpr DataType bf16 = DataType::bf16;
  return {{problem_of({5120, 5120, 4096}, f32, "ttt"), "a100-sxm4-80gb"},
          {problem_of({5120, 5120, 4096}, f32, "ttt"), "h200"},
          {problem_of({1, 4096, 4096}, f32, "ttt"), "a100-sxm4-80gb"},
          {problem_of({16, 4096, 4096}, f32, "tnt"), "h200"},
          {problem_of({512, 512, 512}, f32, "ttt"), "h200"},
          {problem_of({1023, 4097, 588}, f32, "ttt"), "h200"},
          {problem_of({4096, 3072, 768}, bf16, "tnt"), "h200"},
          {problem_of({16, 4096, 4096}, bf16, "tnt"), "a100-sxm4-80gb"},
          {problem_of({512, 512, 16384}, f16, "ttt"), "h200"},
          {problem_of({4095, 4095, 4095}, bf16, "ttt"), "h200"}};
}

class Stopwatch {
 public:
  double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
  }
  double cpu_s() const { return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC; }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

// Seconds per batch of proposals.
double proposals_s(tuner::Search& search, const std::vector<tuner::Choice>& seeds) {
  std::vector<tuner::Sample> learnt;
  const auto sample = [&](const tuner::Choice& choice) {
    learnt.push_back({search.spaces()[choice.space].features(search.tile(choice)),
                      0.01F * static_cast<float>(learnt.size() % 50)});
  };
  for (const tuner::Choice& choice : search.random_points(kLearnt)) sample(choice);
  search.learn(std::move(learnt));
  for (size_t i = 0; i < seeds.size(); ++i)
    search.report(seeds[i], 100 + static_cast<double>(i % 30));
  const Stopwatch watch;
  for (int i = 0; i < kBatches; ++i) search.proposals(kBatch);
  return watch.wall_s() / kBatches;
}

void measure(const Case& c, int threads, bool exhaustive) {
  const DeviceSpec& device = *find_device_spec(c.device);
  const Problem problem = canonical(c.problem);
  const Stopwatch watch;
  const auto calibration = tuner::shipped_calibration(device.arch);
  std::vector<tuner::Search::Space> spaces;
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    if (!strategy->supports(problem, device.arch)) continue;
    const auto space = *codegen::default_search_space(*strategy);
    if (!tuner::check_any_legal(space, problem, device)) continue;
    spaces.push_back(tuner::ranked_space(space, problem, device, calibration));
    if (exhaustive) spaces.back().bounds.reset();
  }
  const double spaces_s = watch.wall_s();
  tuner::Search search(std::move(spaces), 1, threads);
  const auto cost = [&](const tuner::Choice& choice) {
    const auto spec =
        codegen::spec_for(search.strategy(choice), search.tile(choice), problem, device.arch);
    return tuner::predict(spec, spec.strategy->estimated_registers(spec), problem, device).total_us;
  };
  const double best_us = cost(search.seeds(1).front());
  const double first_s = watch.wall_s();
  const double first_cpu_s = watch.cpu_s();
  double checksum = best_us;
  int place = 1;
  const std::vector<tuner::Choice> seeds = search.seeds(kSeeds - 1);
  for (const tuner::Choice& choice : seeds) checksum += ++place * cost(choice);
  const double seeds_s = watch.wall_s();
  const double seeds_cpu_s = watch.cpu_s();
  fmt::print("{:34} {:14} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:8.3f} {:12.3f} {:16.3f}\n",
             key(c.problem), c.device, spaces_s, first_s, first_cpu_s, seeds_s, seeds_cpu_s,
             proposals_s(search, seeds), best_us, checksum);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  fmt::print("{:34} {:14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>12} {:>16}\n", "problem", "device",
             "spaces s", "first s", "cpu s", "seeds s", "cpu s", "batch s", "best us", "checksum");
  const bool exhaustive = argc > 2 && std::string_view(argv[2]) == "exhaustive";
  for (const Case& c : cases()) measure(c, threads, exhaustive);
}
