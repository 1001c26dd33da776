#include "tuner/measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace gemmtune::tuner {
namespace {

constexpr int64_t kMostLaunches = 400;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct RoundSample {
  double time_us;
  std::optional<gpu::ClockSample> clocks;
};

gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const gpu::Stream& stream,
                                                 const std::optional<gpu::NvmlDevice>& nvml) {
  std::vector<RoundSample> round;
  for (const Contender& contender : contenders) {
    auto time = contender.graph->sample_us(stream);
    if (!time) return tl::unexpected(time.error());
    round.push_back({*time, nvml ? std::optional(nvml->sample()) : std::nullopt});
  }
  return round;
}

// Whether the limiter acted on some samples of the round and not on others.
bool unevenly_slowed(const std::vector<RoundSample>& round) {
  uint64_t any = 0;
  uint64_t all = ~uint64_t{0};
  for (const RoundSample& sample : round) {
    const uint64_t reasons =
        sample.clocks ? gpu::slowing_reasons(sample.clocks->throttle_reasons.value_or(0)) : 0;
    any |= reasons;
    all &= reasons;
  }
  return any != all;
}

bool all_done(std::span<const Contender> contenders, const StoppingRule& rule) {
  return std::all_of(contenders.begin(), contenders.end(),
                     [&](const Contender& c) { return rule.done(median_interval(c.samples_us)); });
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
  return TimedGraph(std::move(*exec), std::move(*begin), std::move(*end), launches);
}

gpu::Result<double> TimedGraph::sample_us(const gpu::Stream& stream) const {
  if (auto done = begin_.record(stream.handle()); !done) return tl::unexpected(done.error());
  if (auto done = graph_.launch(stream); !done) return tl::unexpected(done.error());
  if (auto done = end_.record(stream.handle()); !done) return tl::unexpected(done.error());
  if (auto done = end_.synchronize(); !done) return tl::unexpected(done.error());
  auto elapsed = gpu::elapsed_us(begin_, end_);
  if (!elapsed) return tl::unexpected(elapsed.error());
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
  const StoppingRule& rule = plan.rule;
  while (plan.warm_up_seconds) {
    if (auto ran = take_round(contenders, stream, std::nullopt); !ran)
      return tl::unexpected(ran.error());
    if (seconds_since(start) >= *plan.warm_up_seconds) break;
  }
  int dropped = 0;
  int kept = 0;
  while (kept < rule.max_samples) {
    auto samples = take_round(contenders, stream, nvml);
    if (!samples) return tl::unexpected(samples.error());
    if (unevenly_slowed(*samples) && dropped < rule.max_samples) {
      ++dropped;
    } else {
      ++kept;
      for (size_t i = 0; i < contenders.size(); ++i) {
        contenders[i].samples_us.push_back((*samples)[i].time_us);
        if ((*samples)[i].clocks) contenders[i].clocks.push_back(*(*samples)[i].clocks);
      }
    }
    if (all_done(contenders, rule)) break;
    if (kept >= rule.min_samples && seconds_since(start) > plan.max_seconds) break;
  }
  return {};
}

}  // namespace gemmtune::tuner
