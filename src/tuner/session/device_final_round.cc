// How a search on a device ends: heats, and a final round.
#include <algorithm>
#include <chrono>
#include <utility>

#include "tuner/session/device_evaluator.h"
#include "tuner/session/heats.h"
#include "tuner/session/measured.h"

namespace gemmtune::tuner {
namespace {

// The most of the vendor's algorithms that reach the final round only because they are close to its
// best.
constexpr size_t kCloseInFinalRound = 1;
constexpr int kHeatSamples = 3;
// A product that takes so many times the fastest one's time gets a graph of its own length.
constexpr double kFarBehind = 2;
// Of a lasting load, before the samples of heats.
constexpr double kHeatWarmUpSeconds = 0.05;
// Who is behind after so many turns is not close enough to win.
constexpr int kFirstTurns = 2;
constexpr int kAllTurns = 6;  // the fewest that give an interval of 95%
// However little time there is: the fewest whose median is not moved by one of them.
constexpr int kLeastTurns = 3;
// Of products of one arithmetic; and where own kernels are of the tensor cores' and the vendor's of
// the others: after such a turn of ours an H200 ran cuBLASLt's f32 at 1410 to 1680 MHz, 8% slower
// than alone. The limit's memory is some 60 ms, four graphs (docs/decisions/0007-turns.md).
constexpr int kWarmUps = 1;
constexpr int kWarmUpsOfSplit = 4;

}  // namespace

// In a new context: in one that has loaded, captured graphs and copied for some time, every kernel
// of a graph starts 0.4 us later, the vendor's as well as own ones (docs/performance.md).
Expected<FinalResults> DeviceEvaluator::finish(std::span<const Finalist> finalists) {
  if (auto rebuilt = rebuild(); !rebuilt) return tl::unexpected(rebuilt.error());
  auto results = run_final(finalists);
  if (!results) return tl::unexpected(results.error());
  return std::move(*results);
}

// Each once.
std::vector<int> DeviceEvaluator::final_vendor_ranks() const {
  if (best_vendor_rank_ < 0) return {};
  std::vector<int> ranks = {0, best_vendor_rank_};
  ranks.insert(ranks.end(), vendor_finalists_.begin(), vendor_finalists_.end());
  ranks.insert(ranks.end(), close_vendor_ranks_.begin(), close_vendor_ranks_.end());
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// The finalists, and behind them the vendor's algorithms.
gpu::Result<std::vector<DeviceEvaluator::Runner>> DeviceEvaluator::final_runners(
    std::span<const Finalist> finalists) {
  const std::vector<int> ranks = final_vendor_ranks();
  std::vector<Runner> runners(finalists.size() + ranks.size());  // graphs refer to them
  for (size_t i = 0; i < finalists.size(); ++i) {
    auto kernel = launch::LoadedKernel::load(bench_->context(), finalists[i].candidate.spec,
                                             finalists[i].kernel.cubin);
    if (!kernel) return tl::unexpected(kernel.error());
    runners[i].kernel = std::move(*kernel);
  }
  for (size_t i = 0; i < ranks.size(); ++i) runners[finalists.size() + i].vendor_rank = ranks[i];
  return runners;
}

// Records what runners do in a sample of such a length; returns them as contenders.
gpu::Result<std::vector<Contender>> DeviceEvaluator::contend(const std::vector<Runner*>& runners,
                                                             double sample_us) {
  std::vector<Contender> contenders;
  contenders.reserve(runners.size());
  for (Runner* const runner : runners) {
    const Enqueue enqueue = runner->kernel ? bench_->enqueue_kernel(*runner->kernel)
                                           : bench_->enqueue_vendor(runner->vendor_rank);
    const auto walk = bench_->record(enqueue, bench_->sets().count());
    if (!walk) return tl::unexpected(walk.error());
    // The first one loads the kernel.
    if (auto first = walk->sample_us(bench_->stream()); !first)
      return tl::unexpected(first.error());
    auto us = walk->sample_us(bench_->stream());
    if (!us) return tl::unexpected(us.error());
    // As many for all that are close to each other.
    const double fastest_us = fastest_us_.value_or(*us);
    const double product_us = *us > kFarBehind * fastest_us ? *us : fastest_us;
    auto graph =
        bench_->record(enqueue, launches_per_graph(bench_->sets().count(), product_us, sample_us));
    if (!graph) return tl::unexpected(graph.error());
    runner->graph = std::move(*graph);
    contenders.push_back({"", &*runner->graph, {}, {}});
  }
  return contenders;
}

// Whether one of the vendor's algorithms takes part in the final round whatever heats say.
bool DeviceEvaluator::stays(const Runner& vendor) const {
  const auto& asked = vendor_finalists_;
  return vendor.vendor_rank == 0 || vendor.vendor_rank == best_vendor_rank_ ||
         std::find(asked.begin(), asked.end(), vendor.vendor_rank) != asked.end();
}

// Which runners go on to the final round. The vendor's algorithms run beside the finalists under a
// lasting load; of those that are only close to its best one, the best goes on.
gpu::Result<DeviceEvaluator::AfterHeats> DeviceEvaluator::run_heats(
    std::span<const Finalist> finalists, std::vector<Runner>& runners) {
  AfterHeats after;
  std::vector<Runner*> all;
  all.reserve(runners.size());
  for (Runner& runner : runners) all.push_back(&runner);
  const bool may_leave =
      finalists.size() > kInFinalRound &&
      std::any_of(finalists.begin(), finalists.end(), [](const Finalist& f) { return !f.stays; });
  if (!may_leave && close_vendor_ranks_.size() <= kCloseInFinalRound) {
    after.left = std::move(all);
    return after;
  }
  auto contenders = contend(all, kHeatSampleUs);
  if (!contenders) return tl::unexpected(contenders.error());
  auto compared =
      compare(*contenders, bench_->stream(), services_.nvml, {kHeatSamples, kHeatWarmUpSeconds});
  if (!compared) return tl::unexpected(compared.error());
  after.sample_us = sample_us_after(*contenders);
  const auto time = [&](size_t i) { return median_interval((*contenders)[i].samples_us).median; };
  std::vector<HeatTimes> heats;
  heats.reserve(finalists.size());
  for (size_t i = 0; i < finalists.size(); ++i)
    heats.push_back({finalists[i].search_us, time(i), finalists[i].stays});
  for (const size_t i : for_final_round(heats)) after.left.push_back(all[i]);
  std::vector<std::pair<double, Runner*>> close;
  for (size_t i = finalists.size(); i < all.size(); ++i) {
    if (stays(*all[i])) {
      after.left.push_back(all[i]);
    } else {
      close.emplace_back(time(i), all[i]);
    }
  }
  std::sort(close.begin(), close.end());
  for (size_t i = 0; i < std::min(close.size(), kCloseInFinalRound); ++i)
    after.left.push_back(close[i].second);
  return after;
}

// A card is not at its limit for a mix of contenders that draw unlike power as it is for each.
double DeviceEvaluator::sample_us_after(std::span<const Contender> heats) const {
  if (is_split(problem_.math)) return kFinalSampleUs;
  std::vector<gpu::ClockSample> read;
  for (const Contender& contender : heats)
    read.insert(read.end(), contender.clocks.begin(), contender.clocks.end());
  return final_sample_us(read, 1e-3 * services_.device.clock_khz);
}

// Of turns that begin now.
std::optional<TimeLimit> DeviceEvaluator::turn_limit() const {
  if (options_.turn_seconds <= 0) return std::nullopt;
  const auto seconds = std::chrono::duration<double>(options_.turn_seconds);
  const auto now = std::chrono::steady_clock::now();
  return TimeLimit{now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds),
                   kLeastTurns};
}

// The turns of the runners that heats left; `left` becomes those that had all of them.
gpu::Result<std::vector<Contender>> DeviceEvaluator::run_turns(std::span<const Finalist> finalists,
                                                               const std::vector<Runner>& runners,
                                                               AfterHeats& after) {
  std::vector<Runner*>& left = after.left;
  auto contenders = contend(left, after.sample_us);
  if (!contenders) return contenders;
  const auto limit = turn_limit();
  const auto compare_by = [&](std::vector<Contender>& sides, int turns) {
    return compare_in_turns(sides, bench_->stream(), services_.nvml,
                            {turns, limit, is_split(problem_.math) ? kWarmUpsOfSplit : kWarmUps});
  };
  if (auto done = compare_by(*contenders, kFirstTurns); !done) return tl::unexpected(done.error());
  std::vector<FirstTurns> shown;
  for (size_t i = 0; i < left.size(); ++i) {
    const bool is_vendor = !left[i]->kernel;
    const auto place = static_cast<size_t>(left[i] - runners.data());
    shown.push_back({median_interval((*contenders)[i].samples_us).median, is_vendor,
                     is_vendor ? stays(*left[i]) : finalists[place].stays});
  }
  std::vector<Runner*> further;
  std::vector<Contender> sides;
  for (const size_t i : for_further_turns(shown)) {
    further.push_back(left[i]);
    sides.push_back(std::move((*contenders)[i]));
  }
  left = std::move(further);
  if (auto done = compare_by(sides, kAllTurns); !done) return tl::unexpected(done.error());
  return sides;
}

gpu::Result<FinalResults> DeviceEvaluator::run_final(std::span<const Finalist> finalists) {
  auto entered = bench_->context()->enter();
  if (!entered) return tl::unexpected(entered.error());
  auto runners = final_runners(finalists);
  if (!runners) return tl::unexpected(runners.error());
  auto after = run_heats(finalists, *runners);
  if (!after) return tl::unexpected(after.error());
  auto contenders = run_turns(finalists, *runners, *after);
  if (!contenders) return tl::unexpected(contenders.error());
  const std::vector<Runner*>& left = after->left;

  FinalResults results;
  results.finalists.resize(finalists.size());
  std::optional<double> vendor_us;
  for (size_t i = 0; i < left.size(); ++i) {
    const Runner& runner = *left[i];
    if (runner.kernel) continue;
    results.vendor.push_back(bench_->vendor_result(runner.vendor_rank, (*contenders)[i]));
    results.vendor.back().measurement.final_round = true;
    const double median = results.vendor.back().measurement.median_us;
    vendor_us = std::min(median, vendor_us.value_or(median));
  }
  for (size_t i = 0; i < left.size(); ++i) {
    const Runner& runner = *left[i];
    if (!runner.kernel) continue;
    Evaluation evaluation;
    evaluation.measurement = to_measurement((*contenders)[i], vendor_us);
    evaluation.measurement->final_round = true;
    evaluation.time_us = evaluation.measurement->median_us;
    if (auto judged = bench_->judge_accuracy(*runner.kernel, vendor_error_, evaluation); !judged)
      return tl::unexpected(judged.error());
    results.finalists[static_cast<size_t>(&runner - runners->data())] = std::move(evaluation);
  }
  return results;
}

}  // namespace gemmtune::tuner
