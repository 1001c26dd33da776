#include "tuner/session/device_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/tensor_rate.h"
#include "tuner/session/measured.h"

namespace gemmtune::tuner {
namespace {

// Samples of a candidate after the one that warmed up, in all where it is not unlikely, and of each
// of the vendor's algorithms.
constexpr int kShortSeries = 2;
constexpr int kLongSeries = 5;
// A long series of longer samples has fewer of them: they differ less.
constexpr int kLeastLongSeries = kShortSeries + 1;
constexpr double kLongSeriesUs = 10'000;
constexpr int kVendorSeries = 3;
// Algorithms of the vendor's up to so many times its best may take part in the final round.
constexpr double kCloseToBest = 1.03;
// Rates that no product exceeds by much: the lower bound of its time.
constexpr double kRealisticTflops = 60;
constexpr double kRealisticHalfTflops = 750;  // 16-bit operands, and f32 by tensor cores
constexpr double kRealisticByteTflops = 1500;
constexpr double kRealisticBytesPerUs = 4.5e6;

double realistic_tflops(const Problem& problem) {
  if (is_8_bit(problem.type)) return kRealisticByteTflops;
  return on_tensor_cores(problem.type, problem.math) ? kRealisticHalfTflops : kRealisticTflops;
}

double least_us(const Problem& problem, bool warm) {
  const double arithmetic_us = flops(problem) / (realistic_tflops(problem) * 1e6);
  const auto bytes = static_cast<double>(bytes_of_matrices(problem));
  return warm ? arithmetic_us : std::max(arithmetic_us, bytes / kRealisticBytesPerUs);
}

int long_series(double sample_us) {
  const double samples = std::max(kLongSeriesUs / sample_us, static_cast<double>(kLeastLongSeries));
  return samples < kLongSeries ? static_cast<int>(samples) : kLongSeries;
}

store::Outcome outcome_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::correct:
      return store::Outcome::ok;
    case VerdictKind::wrong_result:
      return store::Outcome::wrong_result;
    case VerdictKind::out_of_bounds:
      return store::Outcome::out_of_bounds;
    case VerdictKind::unwritten:
      return store::Outcome::unwritten;
  }
  return store::Outcome::wrong_result;
}

Evaluation failed(store::Outcome outcome, std::string reason) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.reason = std::move(reason);
  return evaluation;
}

}  // namespace

Expected<std::unique_ptr<DeviceEvaluator>> DeviceEvaluator::create(
    DeviceServices services, const Problem& problem, const EvaluationOptions& options) {
  std::unique_ptr<DeviceEvaluator> evaluator(
      new DeviceEvaluator(std::move(services), problem, options));
  if (auto built = evaluator->build(); !built) return tl::unexpected(built.error());
  return evaluator;
}

Expected<void> DeviceEvaluator::build() {
  const bool needs_vendor = found_.best_vendor_rank.has_value();
  auto bench = DeviceBench::create(services_, problem_,
                                   {options_.warm, options_.beta, options_.vendor_workspace_bytes},
                                   needs_vendor);
  if (!bench) return tl::unexpected(bench.error());
  bench_.emplace(std::move(*bench));
  launches_ = launches_per_graph(bench_->sets().count(), least_us(problem_, options_.warm),
                                 kSearchSampleUs);
  return {};
}

Expected<void> DeviceEvaluator::rebuild() {
  const auto context = bench_->context();
  incumbent_.reset();
  if (auto reset = context->reset(); !reset) return tl::unexpected(reset.error());
  busy_us_ += context->busy_us();
  bench_.reset();
  return build();
}

double DeviceEvaluator::busy_seconds() const {
  return 1e-6 * (busy_us_ + (bench_ ? bench_->context()->busy_us() : 0));
}

Expected<void> DeviceEvaluator::rebuild_after_crash() {
  if (auto rebuilt = rebuild(); !rebuilt) return rebuilt;
  if (!found_.best_vendor_rank) return {};
  auto entered = bench_->context()->enter();
  if (!entered) return tl::unexpected(entered.error());
  auto graph = bench_->record(bench_->enqueue_vendor(*found_.best_vendor_rank), launches_);
  if (!graph) return tl::unexpected(graph.error());
  // The first one loads the kernel. It is no time to compare by: that would be in all scores.
  if (auto first = graph->sample_us(bench_->stream()); !first) return tl::unexpected(first.error());
  incumbent_ = {{std::nullopt, std::move(*graph)}, Incumbency::of_vendor(best_vendor_us_)};
  return {};
}

Expected<std::vector<VendorResult>> DeviceEvaluator::measure_vendor() {
  std::vector<VendorResult> results;
  if (!bench_->vendor()) return results;
  auto entered = bench_->context()->enter();
  if (!entered) return tl::unexpected(entered.error());
  std::vector<int> ranks;
  std::vector<TimedGraph> graphs;
  for (int rank = 0; rank < bench_->vendor()->algorithms(); ++rank) {
    auto graph = bench_->record(bench_->enqueue_vendor(rank), launches_);
    if (!graph) continue;  // an algorithm that cannot run here is no baseline
    ranks.push_back(rank);
    graphs.push_back(std::move(*graph));
  }
  if (graphs.empty()) return results;
  std::vector<Contender> contenders;
  contenders.reserve(graphs.size());
  for (const TimedGraph& graph : graphs) contenders.push_back({&graph, {}, {}});
  auto compared = compare(contenders, bench_->stream(), services_.nvml, {kVendorSeries});
  if (!compared) return tl::unexpected(compared.error());
  for (size_t i = 0; i < ranks.size(); ++i)
    results.push_back(bench_->vendor_result(ranks[i], contenders[i]));
  const auto best = std::min_element(results.begin(), results.end(),
                                     [](const VendorResult& a, const VendorResult& b) {
                                       return a.measurement.median_us < b.measurement.median_us;
                                     });
  note_vendor(results, *best);
  incumbent_ = {{std::nullopt, std::move(graphs[static_cast<size_t>(best - results.begin())])},
                Incumbency::of_vendor(best_vendor_us_)};
  auto error = largest_vendor_error(results);
  if (!error) return tl::unexpected(error.error());
  found_.vendor_error = *error;
  return results;
}

void DeviceEvaluator::note_vendor(std::span<const VendorResult> results, const VendorResult& best) {
  found_.best_vendor_rank = best.rank;
  best_vendor_us_ = best.measurement.median_us;
  found_.fastest_us = best_vendor_us_;
  // At a lasting load's clocks the order may be another.
  for (const VendorResult& result : results) {
    if (result.measurement.median_us < kCloseToBest * best_vendor_us_)
      found_.close_vendor_ranks.push_back(result.rank);
  }
}

// Of the algorithms that own kernels are held against.
gpu::Result<double> DeviceEvaluator::largest_vendor_error(std::span<const VendorResult> results) {
  double largest = 0;
  for (const VendorResult& result : results) {
    if (result.rank != found_.best_vendor_rank && !held_against_all(problem_)) continue;
    const auto accuracy = bench_->accuracy(bench_->enqueue_vendor(result.rank));
    if (!accuracy) return tl::unexpected(accuracy.error());
    largest = std::max(largest, accuracy->max_error);
  }
  return largest;
}

Expected<Evaluation> DeviceEvaluator::evaluate(const Candidate& candidate,
                                               const jit::CompiledKernel& kernel) {
  gpu::Result<Evaluation> result = verify_and_measure(candidate, kernel);
  if (result) return std::move(*result);
  // Of others' doing, as a rule: it says nothing of the candidate.
  if (result.error().out_of_memory())
    return make_error(ErrorKind::failed,
                      "the GPU's memory is used up (" + result.error().message +
                          "): free some and run the same command again; what was measured is kept");
  Evaluation evaluation = failed(store::Outcome::launch_failed, result.error().message);
  if (!result.error().context_lost()) return evaluation;
  if (auto rebuilt = rebuild_after_crash(); !rebuilt) {
    evaluation.fatal =
        candidate.source.name + " crashed, and the driver runs nothing more in this process (" +
        rebuilt.error().message + "); run the same command again to go on where it stopped";
  }
  return evaluation;
}

gpu::Result<Evaluation> DeviceEvaluator::verify_and_measure(const Candidate& candidate,
                                                            const jit::CompiledKernel& compiled) {
  auto kernel = launch::LoadedKernel::load(bench_->context(), candidate.spec, compiled.cubin);
  if (!kernel) return tl::unexpected(kernel.error());
  if (kernel->workspace_bytes(problem_) > bench_->sets().workspace_bytes()) {
    return failed(store::Outcome::illegal,
                  fmt::format("needs a workspace of {} bytes, {} are allowed",
                              kernel->workspace_bytes(problem_), bench_->sets().workspace_bytes()));
  }
  auto verdict = bench_->verify(*kernel);
  if (!verdict) return tl::unexpected(verdict.error());
  if (!verdict->correct()) return failed(outcome_of(verdict->kind), verdict->detail);
  auto entered = bench_->context()->enter();
  if (!entered) return tl::unexpected(entered.error());
  Evaluation evaluation;
  if (auto judged = bench_->judge_accuracy(*kernel, found_.vendor_error, evaluation); !judged)
    return tl::unexpected(judged.error());
  if (evaluation.outcome != store::Outcome::ok) return evaluation;
  return measure(std::move(*kernel), std::move(evaluation));
}

gpu::Result<Evaluation> DeviceEvaluator::measure(launch::LoadedKernel loaded,
                                                 Evaluation evaluation) {
  auto graph = bench_->record(bench_->enqueue_kernel(loaded), launches_);
  if (!graph) return tl::unexpected(graph.error());
  Recorded recorded{std::move(loaded), std::move(*graph)};

  // One sample tells whether it is hopeless; it also warms up.
  auto first = recorded.graph.sample_us(bench_->stream());
  if (!first) return tl::unexpected(first.error());
  if (incumbent_ && incumbent_->standing.hopeless(*first))
    return eliminated(*first, std::move(evaluation));
  auto sides = run_series(recorded);
  if (!sides) return tl::unexpected(sides.error());
  const MedianInterval candidate = median_interval((*sides)[0].samples_us);
  found_.fastest_us = std::min(candidate.median, found_.fastest_us.value_or(candidate.median));
  if (!incumbent_) {
    evaluation.time_us = candidate.median;
    evaluation.measurement = to_measurement((*sides)[0], std::nullopt);
    incumbent_ = {std::move(recorded), Incumbency::of_first_own(candidate.median)};
    return evaluation;
  }
  const MedianInterval baseline = median_interval((*sides)[1].samples_us);
  incumbent_->standing.measured(baseline.median);
  if (incumbent_->standing.beaten(candidate, baseline))
    return succeed_incumbent(std::move(recorded), std::move(evaluation));
  score((*sides)[0], candidate.median, baseline.median, evaluation);
  return evaluation;
}

// By a series with the incumbent.
void DeviceEvaluator::score(const Contender& candidate, double candidate_us, double incumbent_us,
                            Evaluation& evaluation) const {
  evaluation.time_us = incumbent_->standing.score_of(candidate_us, incumbent_us);
  evaluation.measurement = to_measurement(candidate, incumbent_us);
}

// Samples of a candidate, and of the incumbent if there is one.
gpu::Result<std::vector<Contender>> DeviceEvaluator::run_series(const Recorded& candidate) {
  std::vector<Contender> sides;
  sides.push_back({&candidate.graph, {}, {}});
  if (incumbent_) sides.push_back({&incumbent_->recorded.graph, {}, {}});
  const auto run = [&](int samples) {
    return compare(sides, bench_->stream(), services_.nvml, {samples, std::nullopt});
  };
  if (auto done = run(kShortSeries); !done) return tl::unexpected(done.error());
  const auto median = [&](size_t side) { return median_interval(sides[side].samples_us).median; };
  if (!incumbent_ || !incumbent_->standing.unlikely(median(0), median(1))) {
    const int samples = long_series(median(0) * static_cast<double>(launches_));
    if (auto done = run(samples); !done) return tl::unexpected(done.error());
  }
  return sides;
}

// Measures the candidate once more and makes it the incumbent.
gpu::Result<Evaluation> DeviceEvaluator::succeed_incumbent(Recorded candidate,
                                                           Evaluation evaluation) {
  const auto sides = run_series(candidate);
  if (!sides) return tl::unexpected(sides.error());
  const double candidate_us = median_interval((*sides)[0].samples_us).median;
  const double baseline_us = median_interval((*sides)[1].samples_us).median;
  score((*sides)[0], candidate_us, baseline_us, evaluation);
  incumbent_->standing.replace(candidate_us, baseline_us);
  // The old graph ends before the kernel whose launches it holds.
  std::swap(incumbent_->recorded, candidate);
  return evaluation;
}

// Of one sample.
Evaluation DeviceEvaluator::eliminated(double sample_us, Evaluation evaluation) const {
  Contender side;
  side.samples_us.push_back(sample_us);
  if (services_.nvml) side.clocks.push_back(services_.nvml->sample());
  evaluation.outcome = store::Outcome::eliminated_early;
  evaluation.time_us = incumbent_->standing.score_of_sample(sample_us);
  evaluation.measurement = to_measurement(side, incumbent_->standing.median_us());
  return evaluation;
}

// In a new context: in one that has loaded, captured graphs and copied for some time, every kernel
// of a graph starts 0.4 us later, the vendor's as well as own ones (docs/performance.md).
Expected<FinalResults> DeviceEvaluator::finish(std::span<const Finalist> finalists) {
  if (auto rebuilt = rebuild(); !rebuilt) return tl::unexpected(rebuilt.error());
  const auto entered = bench_->context()->enter();
  if (!entered) return tl::unexpected(entered.error());
  auto results =
      DeviceFinalRound(*bench_, services_, found_, finalists, options_.final_round).run();
  if (!results) return tl::unexpected(results.error());
  return std::move(*results);
}

}  // namespace gemmtune::tuner
