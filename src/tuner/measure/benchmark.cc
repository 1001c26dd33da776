#include "tuner/measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/seconds_since.h"
#include "tuner/measure/rounds.h"

namespace gemmtune::tuner {
namespace {

constexpr int64_t kMostLaunches = 200;
constexpr int kTurnGraphs = 4;
constexpr double kLongestRestUs = 50000;  // behind which any load is forgotten

using Clock = std::chrono::steady_clock;

gpu::Result<RoundSample> take_sample(const Contender& contender, const gpu::Stream& stream,
                                     const std::optional<gpu::NvmlDevice>& nvml) {
  auto time = contender.graph->sample_us(stream);
  if (!time) return tl::unexpected(time.error());
  return RoundSample{*time, nvml ? std::optional(nvml->sample()) : std::nullopt};
}

gpu::Result<RoundSample> take_turn(const Contender& contender, const gpu::Stream& stream,
                                   const std::optional<gpu::NvmlDevice>& nvml) {
  const auto start = Clock::now();
  RoundSample sample;
  std::vector<double> times;
  for (int i = 1; i <= kTurnGraphs; ++i) {
    auto ran = contender.graph->sample_and_read(stream, i == kTurnGraphs ? nvml : std::nullopt);
    if (!ran) return tl::unexpected(ran.error());
    sample.clocks = ran->clocks;
    if (i > 1) times.push_back(ran->time_us);  // the first one warms up
  }
  const double busy_us = 1e6 * seconds_since(start);
  sample.time_us = median_interval(times).median;
  std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(rest_us(busy_us)));
  return sample;
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

gpu::Result<RoundSample> TimedGraph::sample_and_read(
    const gpu::Stream& stream, const std::optional<gpu::NvmlDevice>& nvml) const {
  if (auto started = start(stream); !started) return tl::unexpected(started.error());
  RoundSample sample;
  if (nvml) sample.clocks = nvml->sample();
  const auto time = wait_us();
  if (!time) return tl::unexpected(time.error());
  sample.time_us = *time;
  return sample;
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
  std::vector<double> powers;
  for (const gpu::ClockSample& sample : samples) {
    if (sample.sm_clock_mhz) clocks.push_back(*sample.sm_clock_mhz);
    if (sample.power_w) powers.push_back(*sample.power_w);
    out.throttle_reasons |= sample.throttle_reasons.value_or(0);
  }
  if (!clocks.empty()) {
    out.sm_clock_min_mhz = *std::min_element(clocks.begin(), clocks.end());
    out.sm_clock_median_mhz = median_interval(clocks).median;
  }
  if (!powers.empty()) {
    out.power_w = *std::max_element(powers.begin(), powers.end());
    out.power_median_w = median_interval(powers).median;
  }
  return out;
}

gpu::Result<void> compare(std::span<Contender> contenders, const gpu::Stream& stream,
                          const std::optional<gpu::NvmlDevice>& nvml, const ComparePlan& plan) {
  const auto start = Clock::now();
  const auto without_clocks = [&](const Contender& contender) {
    return take_sample(contender, stream, std::nullopt);
  };
  const std::vector<size_t> order = spread_order(contenders.size(), 0);
  while (plan.warm_up_seconds) {
    if (auto ran = take_round(contenders, without_clocks, order); !ran)
      return tl::unexpected(ran.error());
    if (seconds_since(start) >= *plan.warm_up_seconds) break;
  }
  const auto take = [&](const Contender& contender) {
    return take_sample(contender, stream, nvml);
  };
  return take_rounds(contenders, take, {plan.samples, gpu::kSlowingReasons, true});
}

double rest_us(double busy_us) {
  return std::min(busy_us, kLongestRestUs);
}

gpu::Result<void> compare_in_turns(std::span<Contender> contenders, const gpu::Stream& stream,
                                   const std::optional<gpu::NvmlDevice>& nvml,
                                   const TurnPlan& plan) {
  const auto take = [&](const Contender& contender) { return take_turn(contender, stream, nvml); };
  Rounds rounds{plan.samples, gpu::kSlowingReasons & ~gpu::kPowerLimit};
  if (plan.limit) {
    rounds.time_is_up = [end = plan.limit->end] { return Clock::now() > end; };
    rounds.fewest = plan.limit->samples;
  }
  return take_rounds(contenders, take, rounds);
}

}  // namespace gemmtune::tuner
