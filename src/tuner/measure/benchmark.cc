#include "tuner/measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace gemmtune::tuner {
namespace {

constexpr int64_t kMostLaunches = 200;
constexpr int kTurnSamples = 3;  // behind those that warm up
// As long as an independent program rests while it captures its next graph, and no longer than
// leaves a program's share of products of its GPU time.
constexpr double kRestPerLaunchUs = 30;
constexpr double kRestShare = 0.75;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct RoundSample {
  double time_us = 0;
  std::optional<gpu::ClockSample> clocks;
};

// Takes a sample of a contender.
using TakeSample = std::function<gpu::Result<RoundSample>(const Contender& contender)>;

// One of each, the first or the last contender first; in the contenders' order.
gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const TakeSample& take, bool last_first) {
  std::vector<RoundSample> round(contenders.size());
  for (size_t i = 0; i < contenders.size(); ++i) {
    const size_t place = last_first ? contenders.size() - 1 - i : i;
    auto sample = take(contenders[place]);
    if (!sample) return tl::unexpected(sample.error());
    round[place] = *sample;
  }
  return round;
}

gpu::Result<RoundSample> take_sample(const Contender& contender, const gpu::Stream& stream,
                                     const std::optional<gpu::NvmlDevice>& nvml) {
  auto time = contender.graph->sample_us(stream);
  if (!time) return tl::unexpected(time.error());
  return RoundSample{*time, nvml ? std::optional(nvml->sample()) : std::nullopt};
}

// Whether a limiter of `kinds` acted on some samples of the round and not on others.
bool unevenly_slowed(const std::vector<RoundSample>& round, uint64_t kinds) {
  uint64_t any = 0;
  uint64_t all = ~uint64_t{0};
  for (const RoundSample& sample : round) {
    const uint64_t reasons = sample.clocks ? sample.clocks->throttle_reasons.value_or(0) : 0;
    any |= reasons & kinds;
    all &= reasons;
  }
  return any != (all & kinds);
}

gpu::Result<RoundSample> take_turn(const Contender& contender, const gpu::Stream& stream,
                                   const std::optional<gpu::NvmlDevice>& nvml, int warm_ups) {
  const auto start = Clock::now();
  RoundSample sample;
  std::vector<double> times;
  for (int i = 1; i <= warm_ups + kTurnSamples; ++i) {
    if (auto started = contender.graph->start(stream); !started)
      return tl::unexpected(started.error());
    // While the last one runs: reading takes milliseconds, which would be a rest.
    if (nvml && i == warm_ups + kTurnSamples) sample.clocks = nvml->sample();
    auto time = contender.graph->wait_us();
    if (!time) return tl::unexpected(time.error());
    if (i > warm_ups) times.push_back(*time);
  }
  const double busy_us = 1e6 * seconds_since(start);
  sample.time_us = median_interval(times).median;
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::micro>(rest_us(contender.graph->launches(), busy_us)));
  return sample;
}

bool all_done(std::span<const Contender> contenders, const StoppingRule& rule) {
  return std::all_of(contenders.begin(), contenders.end(),
                     [&](const Contender& c) { return rule.done(median_interval(c.samples_us)); });
}

// How rounds go on until the rule is satisfied for each contender, or the time since `start` is up
// once there are enough.
struct Rounds {
  StoppingRule rule;
  Clock::time_point start;
  double max_seconds;
  int kept = 0;            // before
  bool both_ways = false;  // every other one from the last contender to the first
};

// A round in which limiters of `kinds` slowed some contenders and not others is thrown away.
gpu::Result<void> take_rounds(std::span<Contender> contenders, const TakeSample& take,
                              uint64_t kinds, Rounds rounds) {
  const StoppingRule& rule = rounds.rule;
  int& kept = rounds.kept;
  int dropped = 0;
  while (kept < rule.max_samples) {
    auto round = take_round(contenders, take, rounds.both_ways && (kept + dropped) % 2 == 1);
    if (!round) return tl::unexpected(round.error());
    if (unevenly_slowed(*round, kinds) && dropped < rule.max_samples) {
      ++dropped;
    } else {
      ++kept;
      for (size_t i = 0; i < contenders.size(); ++i) {
        contenders[i].samples_us.push_back((*round)[i].time_us);
        if ((*round)[i].clocks) contenders[i].clocks.push_back(*(*round)[i].clocks);
      }
    }
    if (all_done(contenders, rule)) break;
    if (kept >= rule.min_samples && seconds_since(rounds.start) > rounds.max_seconds) break;
  }
  return {};
}

}  // namespace

Enqueue enqueue_vendor(const VendorProduct& product, int rank, int64_t workspace_bytes) {
  return [&product, rank, workspace_bytes](const launch::Operands& operands, CUstream stream) {
    return product.run(rank, stream, operands, workspace_bytes);
  };
}

gpu::Result<TimedGraph> TimedGraph::record(const gpu::Stream& stream, const OperandSets& sets,
                                           const Enqueue& enqueue, int64_t launches) {
  auto graph = gpu::Graph::capture(stream, [&]() -> gpu::Result<void> {
    for (int64_t i = 0; i < launches; ++i) {
      if (auto queued = enqueue(sets.operands(i), stream.handle()); !queued) return queued;
    }
    return {};
  });
  if (!graph) return tl::unexpected(graph.error());
  auto exec = graph->instantiate();
  if (!exec) return tl::unexpected(exec.error());
  if (auto uploaded = exec->upload(stream); !uploaded) return tl::unexpected(uploaded.error());
  auto begin = gpu::Event::create(stream.context());
  if (!begin) return tl::unexpected(begin.error());
  auto end = gpu::Event::create(stream.context());
  if (!end) return tl::unexpected(end.error());
  return TimedGraph(stream.context(), std::move(*exec), std::move(*begin), std::move(*end),
                    launches);
}

gpu::Result<double> TimedGraph::sample_us(const gpu::Stream& stream) const {
  if (auto started = start(stream); !started) return tl::unexpected(started.error());
  return wait_us();
}

gpu::Result<void> TimedGraph::start(const gpu::Stream& stream) const {
  if (auto done = begin_.record(stream.handle()); !done) return done;
  if (auto done = graph_.launch(stream); !done) return done;
  return end_.record(stream.handle());
}

gpu::Result<double> TimedGraph::wait_us() const {
  if (auto done = end_.synchronize(); !done) return tl::unexpected(done.error());
  auto elapsed = gpu::elapsed_us(begin_, end_);
  if (!elapsed) return tl::unexpected(elapsed.error());
  context_->note_busy(*elapsed);
  return *elapsed / static_cast<double>(launches_);
}

int64_t launches_per_graph(int64_t sets, double product_us, double sample_us) {
  const auto wanted = static_cast<int64_t>(std::ceil(sample_us / std::max(product_us, 1.0)));
  return (std::clamp<int64_t>(wanted, 1, kMostLaunches) + sets - 1) / sets * sets;
}

ClockSummary summarize(std::span<const gpu::ClockSample> samples) {
  ClockSummary out;
  std::vector<double> clocks;
  for (const gpu::ClockSample& sample : samples) {
    if (sample.sm_clock_mhz) clocks.push_back(*sample.sm_clock_mhz);
    if (sample.power_w) out.power_w = std::max(out.power_w.value_or(0), *sample.power_w);
    out.throttle_reasons |= sample.throttle_reasons.value_or(0);
  }
  if (!clocks.empty()) {
    out.sm_clock_min_mhz = *std::min_element(clocks.begin(), clocks.end());
    out.sm_clock_median_mhz = median_interval(clocks).median;
  }
  return out;
}

gpu::Result<void> compare(std::span<Contender> contenders, const gpu::Stream& stream,
                          const std::optional<gpu::NvmlDevice>& nvml, const ComparePlan& plan) {
  const auto start = Clock::now();
  const auto without_clocks = [&](const Contender& contender) {
    return take_sample(contender, stream, std::nullopt);
  };
  while (plan.warm_up_seconds) {
    if (auto ran = take_round(contenders, without_clocks, false); !ran)
      return tl::unexpected(ran.error());
    if (seconds_since(start) >= *plan.warm_up_seconds) break;
  }
  const auto take = [&](const Contender& contender) {
    return take_sample(contender, stream, nvml);
  };
  return take_rounds(contenders, take, gpu::kSlowingReasons,
                     {plan.rule, start, plan.max_seconds, 0, true});
}

double rest_us(int64_t launches, double busy_us) {
  return std::min(kRestPerLaunchUs * static_cast<double>(launches), kRestShare * busy_us);
}

gpu::Result<void> compare_in_turns(std::span<Contender> contenders, const gpu::Stream& stream,
                                   const std::optional<gpu::NvmlDevice>& nvml,
                                   const TurnPlan& plan) {
  if (contenders.empty()) return {};
  const auto take = [&](const Contender& contender) {
    return take_turn(contender, stream, nvml, plan.warm_ups);
  };
  // The state that each turn leaves for the next.
  if (auto done = take(contenders.back()); !done) return tl::unexpected(done.error());
  const auto before = static_cast<int>(contenders.front().samples_us.size());
  return take_rounds(contenders, take, gpu::kSlowingReasons & ~gpu::kPowerLimit,
                     {plan.rule, Clock::now(), plan.max_seconds, before});
}

}  // namespace gemmtune::tuner
