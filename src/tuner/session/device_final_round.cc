#include "tuner/session/device_final_round.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tuner/session/measured.h"

namespace gemmtune::tuner {
namespace {

// The most of the vendor's algorithms that reach the final round only because they are close to its
// best.
constexpr size_t kCloseInFinalRound = 1;
constexpr int kHeatSamples = 3;
// Of a lasting load, before the samples of heats.
constexpr double kHeatWarmUpSeconds = 0.05;
// Who is behind after so many turns is not close enough to win.
constexpr int kFirstTurns = 2;
constexpr int kAllTurns = 6;  // the fewest that give an interval of 95%
// Where that is wide: the fewest more that leave out one more of them on either side.
constexpr int kMoreTurns = 3;
// However little time there is: the fewest whose median is not moved by one of them.
constexpr int kLeastTurns = 3;

double median_us(const Contender& contender) {
  return median_interval(contender.samples_us).median;
}

bool is_over(const std::optional<TimeLimit>& limit) {
  return limit && std::chrono::steady_clock::now() > limit->end;
}

}  // namespace

gpu::Result<FinalResults> DeviceFinalRound::run() {
  if (auto loaded = load_runners(); !loaded) return tl::unexpected(loaded.error());
  if (auto ran = run_each_algorithm(); !ran) return tl::unexpected(ran.error());
  if (needs_heats()) {
    if (auto ran = run_heats(); !ran) return tl::unexpected(ran.error());
  }
  const auto contenders = run_turns();
  if (!contenders) return tl::unexpected(contenders.error());
  auto results = results_of(*contenders);
  if (results && options_.sustained) {
    if (auto done = add_sustained(*results); !done) return tl::unexpected(done.error());
  }
  return results;
}

gpu::Result<void> DeviceFinalRound::load_runners() {
  for (size_t i = 0; i < finalists_.size(); ++i) {
    const Finalist& finalist = finalists_[i];
    auto kernel = launch::LoadedKernel::load(bench_.context(), finalist.candidate.spec,
                                             finalist.kernel.cubin);
    if (!kernel) return tl::unexpected(kernel.error());
    Runner& runner = runners_.emplace_back();
    runner.kernel = std::move(*kernel);
    runner.finalist = i;
    runner.stays = finalist.stays;
  }
  for (const int rank : vendor_ranks()) {
    Runner& runner = runners_.emplace_back();
    runner.vendor_rank = rank;
    runner.stays = stays(rank);
  }
  for (Runner& runner : runners_) left_.push_back(&runner);
  return {};
}

// A kernel in clusters keeps one of several times for as long as it runs alone, by where the
// kernels in clusters before it left the dealing out of clusters to the SMs. So those of the vendor
// begin where they do in a program that has tried them all (decision 0027).
gpu::Result<void> DeviceFinalRound::run_each_algorithm() const {
  if (!found_.best_vendor_rank) return {};
  for (int rank = 0; rank < bench_.vendor()->algorithms(); ++rank) {
    const auto walk = bench_.record(bench_.enqueue_vendor(rank), bench_.sets().count());
    if (!walk) continue;  // an algorithm that cannot run here
    if (auto ran = walk->sample_us(bench_.stream()); !ran) return tl::unexpected(ran.error());
  }
  return {};
}

// Each once.
std::vector<int> DeviceFinalRound::vendor_ranks() const {
  if (!found_.best_vendor_rank) return {};
  std::vector<int> ranks = {0, *found_.best_vendor_rank};
  ranks.insert(ranks.end(), found_.asked_vendor_ranks.begin(), found_.asked_vendor_ranks.end());
  ranks.insert(ranks.end(), found_.close_vendor_ranks.begin(), found_.close_vendor_ranks.end());
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

bool DeviceFinalRound::stays(int vendor_rank) const {
  const auto& asked = found_.asked_vendor_ranks;
  return vendor_rank == 0 || vendor_rank == found_.best_vendor_rank ||
         std::find(asked.begin(), asked.end(), vendor_rank) != asked.end();
}

// Those that are left as contenders, with what they do in a sample recorded.
gpu::Result<std::vector<Contender>> DeviceFinalRound::contend() {
  std::vector<Contender> contenders;
  contenders.reserve(left_.size());
  for (Runner* const runner : left_) {
    if (!runner->graph) {
      auto graph = record(*runner);
      if (!graph) return tl::unexpected(graph.error());
      runner->graph = std::move(*graph);
    }
    contenders.push_back({&*runner->graph, {}, {}});
  }
  return contenders;
}

gpu::Result<TimedGraph> DeviceFinalRound::record(const Runner& runner) const {
  const Enqueue enqueue = runner.kernel ? bench_.enqueue_kernel(*runner.kernel)
                                        : bench_.enqueue_vendor(runner.vendor_rank);
  const auto walk = bench_.record(enqueue, bench_.sets().count());
  if (!walk) return tl::unexpected(walk.error());
  // The first one loads the kernel.
  if (auto first = walk->sample_us(bench_.stream()); !first) return tl::unexpected(first.error());
  const auto us = walk->sample_us(bench_.stream());
  if (!us) return tl::unexpected(us.error());
  // As many for all that are close to each other; who is far behind has graphs of its own length.
  const double fastest_us = found_.fastest_us.value_or(*us);
  const double product_us = *us > kFarBehind * fastest_us ? *us : fastest_us;
  return bench_.record(enqueue,
                       launches_per_graph(bench_.sets().count(), product_us, kFinalSampleUs));
}

// Whether there are more than turns are for, and some of them may leave.
bool DeviceFinalRound::needs_heats() const {
  const bool may_leave =
      finalists_.size() > kInFinalRound &&
      std::any_of(finalists_.begin(), finalists_.end(), [](const Finalist& f) { return !f.stays; });
  return may_leave || found_.close_vendor_ranks.size() > kCloseInFinalRound;
}

gpu::Result<void> DeviceFinalRound::run_heats() {
  auto heats = contend();
  if (!heats) return tl::unexpected(heats.error());
  auto compared =
      compare(*heats, bench_.stream(), services_.nvml, {kHeatSamples, kHeatWarmUpSeconds});
  if (!compared) return tl::unexpected(compared.error());
  left_ = beyond_heats(*heats);
  std::this_thread::sleep_for(kRestAfterLoad);
  return {};
}

// `heats` are of all. The vendor's algorithms run beside the finalists under a lasting load; of
// those that are only close to its best one, the best goes on.
std::vector<DeviceFinalRound::Runner*> DeviceFinalRound::beyond_heats(
    std::span<const Contender> heats) const {
  std::vector<HeatTimes> own;
  own.reserve(finalists_.size());
  for (size_t i = 0; i < finalists_.size(); ++i)
    own.push_back({finalists_[i].search_us, median_us(heats[i]), finalists_[i].stays});
  std::vector<Runner*> further;
  for (const size_t i : for_final_round(own)) further.push_back(left_[i]);
  std::vector<std::pair<double, Runner*>> close;
  for (size_t i = finalists_.size(); i < left_.size(); ++i) {
    if (left_[i]->stays) {
      further.push_back(left_[i]);
    } else {
      close.emplace_back(median_us(heats[i]), left_[i]);
    }
  }
  std::sort(close.begin(), close.end());
  for (size_t i = 0; i < std::min(close.size(), kCloseInFinalRound); ++i)
    further.push_back(close[i].second);
  return further;
}

// The samples of those that had all turns, who are left then.
gpu::Result<std::vector<Contender>> DeviceFinalRound::run_turns() {
  auto contenders = contend();
  if (!contenders) return contenders;
  const auto limit = turn_limit();
  const auto compare_by = [&](std::vector<Contender>& sides, int turns) {
    return compare_in_turns(sides, bench_.stream(), services_.nvml, {turns, limit});
  };
  if (auto done = compare_by(*contenders, kFirstTurns); !done) return tl::unexpected(done.error());
  std::vector<Contender> further = beyond_first_turns(std::move(*contenders));
  if (auto done = compare_by(further, kAllTurns); !done) return tl::unexpected(done.error());
  while (!is_over(limit)) {
    const std::vector<size_t> due = for_more_turns(shown_by(further));
    if (due.empty()) break;
    std::vector<Contender> unsure;
    unsure.reserve(due.size());
    for (const size_t place : due) unsure.push_back(std::move(further[place]));
    const auto turns = static_cast<int>(unsure.front().samples_us.size()) + kMoreTurns;
    if (auto done = compare_by(unsure, turns); !done) return tl::unexpected(done.error());
    for (size_t i = 0; i < due.size(); ++i) further[due[i]] = std::move(unsure[i]);
  }
  return further;
}

// By those that are left.
std::vector<AllTurns> DeviceFinalRound::shown_by(std::span<const Contender> contenders) const {
  std::vector<AllTurns> shown;
  shown.reserve(left_.size());
  for (size_t i = 0; i < left_.size(); ++i)
    shown.push_back({median_interval(contenders[i].samples_us), !left_[i]->kernel});
  return shown;
}

// Has the others leave.
std::vector<Contender> DeviceFinalRound::beyond_first_turns(std::vector<Contender> contenders) {
  std::vector<FirstTurns> shown;
  shown.reserve(left_.size());
  for (size_t i = 0; i < left_.size(); ++i)
    shown.push_back({median_us(contenders[i]), !left_[i]->kernel, left_[i]->stays});
  std::vector<Runner*> left;
  std::vector<Contender> further;
  for (const size_t i : for_further_turns(shown)) {
    left.push_back(left_[i]);
    further.push_back(std::move(contenders[i]));
  }
  left_ = std::move(left);
  return further;
}

// Of turns that begin now.
std::optional<TimeLimit> DeviceFinalRound::turn_limit() const {
  if (options_.turn_seconds <= 0) return std::nullopt;
  const auto seconds = std::chrono::duration<double>(options_.turn_seconds);
  const auto now = std::chrono::steady_clock::now();
  return TimeLimit{now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds),
                   kLeastTurns};
}

// To what results_of() made of those that are left.
gpu::Result<void> DeviceFinalRound::add_sustained(FinalResults& results) const {
  size_t vendor = 0;
  for (const Runner* const runner : left_) {
    const auto load = measure_sustained(*runner->graph, bench_.stream(), services_.nvml);
    if (!load) return tl::unexpected(load.error());
    if (runner->kernel) {
      results.finalists[runner->finalist]->sustained = *load;
    } else {
      results.vendor[vendor++].sustained = *load;
    }
  }
  return {};
}

// Of those that are left, the vendor's in their order.
gpu::Result<FinalResults> DeviceFinalRound::results_of(
    std::span<const Contender> contenders) const {
  FinalResults results;
  results.finalists.resize(finalists_.size());
  std::optional<double> vendor_us;
  for (size_t i = 0; i < left_.size(); ++i) {
    if (left_[i]->kernel) continue;
    VendorResult result = bench_.vendor_result(left_[i]->vendor_rank, contenders[i]);
    result.measurement.final_round = true;
    const double median = result.measurement.median_us;
    vendor_us = std::min(median, vendor_us.value_or(median));
    results.vendor.push_back(std::move(result));
  }
  for (size_t i = 0; i < left_.size(); ++i) {
    const Runner& runner = *left_[i];
    if (!runner.kernel) continue;
    Evaluation evaluation;
    evaluation.measurement = to_measurement(contenders[i], vendor_us);
    evaluation.measurement->final_round = true;
    evaluation.time_us = evaluation.measurement->median_us;
    const auto judged = bench_.judge_accuracy(*runner.kernel, found_.vendor_error, evaluation);
    if (!judged) return tl::unexpected(judged.error());
    results.finalists[runner.finalist] = std::move(evaluation);
  }
  return results;
}

}  // namespace gemmtune::tuner
