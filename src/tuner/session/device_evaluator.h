#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tuner/measure/benchmark.h"
#include "tuner/session/device_bench.h"
#include "tuner/session/evaluator.h"
#include "tuner/session/incumbency.h"

namespace gemmtune::tuner {

struct EvaluationOptions {
  bool warm = false;        // operands stay in cache
  double turn_seconds = 0;  // of a final round's turns at most, but for three of each; 0: no limit
  float beta = 0;           // of what is timed
};

// Runs candidates on a GPU. After a kernel that crashes, the context is rebuilt and the session
// goes on.
class DeviceEvaluator final : public Evaluator {
 public:
  // `problem` is canonical. Usage error if its operands do not fit the device.
  static Expected<std::unique_ptr<DeviceEvaluator>> create(DeviceServices services,
                                                           const Problem& problem,
                                                           const EvaluationOptions& options);

  Expected<std::vector<VendorResult>> measure_vendor() override;
  Expected<Evaluation> evaluate(const Candidate& candidate,
                                const jit::CompiledKernel& kernel) override;
  void add_vendor_finalist(int rank) override { vendor_finalists_.push_back(rank); }
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override;
  double busy_seconds() const override;

 private:
  // A kernel (or vendor algorithm) with its recorded graph.
  struct Runner {
    std::optional<launch::LoadedKernel> kernel;
    int vendor_rank = -1;
    std::optional<TimedGraph> graph;
  };
  // Who goes on to the final round, and how long its samples last.
  struct AfterHeats {
    std::vector<Runner*> left;
    double sample_us = kFinalSampleUs;
  };
  // What candidates are measured in turns with.
  struct Incumbent {
    Runner runner;
    Incumbency standing;
  };

  DeviceEvaluator(DeviceServices services, const Problem& problem, const EvaluationOptions& options)
      : services_(std::move(services)), problem_(problem), options_(options) {}

  Expected<void> build();
  // Everything in a new context.
  Expected<void> rebuild();
  // The same, with the vendor's best as incumbent: its score is what it was, so that times before
  // and after the crash compare.
  Expected<void> rebuild_after_crash();
  gpu::Result<Evaluation> verify_and_measure(const Candidate& candidate,
                                             const jit::CompiledKernel& kernel);
  gpu::Result<Evaluation> measure(launch::LoadedKernel kernel, Evaluation evaluation);
  gpu::Result<std::vector<Contender>> run_series(const Runner& runner);
  void score(const Contender& candidate, double candidate_us, double incumbent_us,
             Evaluation& evaluation) const;
  gpu::Result<Evaluation> succeed_incumbent(Runner runner, Evaluation evaluation);
  Evaluation eliminated(double sample_us, Evaluation evaluation) const;
  std::vector<int> final_vendor_ranks() const;
  gpu::Result<std::vector<Runner>> final_runners(std::span<const Finalist> finalists);
  gpu::Result<std::vector<Contender>> contend(const std::vector<Runner*>& runners,
                                              double sample_us);
  bool stays(const Runner& vendor) const;
  gpu::Result<AfterHeats> run_heats(std::span<const Finalist> finalists,
                                    std::vector<Runner>& runners);
  double sample_us_after(std::span<const Contender> heats) const;
  std::optional<TimeLimit> turn_limit() const;
  gpu::Result<std::vector<Contender>> run_turns(std::span<const Finalist> finalists,
                                                const std::vector<Runner>& runners,
                                                AfterHeats& after);
  gpu::Result<FinalResults> run_final(std::span<const Finalist> finalists);
  gpu::Result<double> largest_vendor_error(std::span<const VendorResult> results);

  DeviceServices services_;
  Problem problem_;
  EvaluationOptions options_;
  int64_t launches_ = 1;  // of a search's samples
  std::optional<DeviceBench> bench_;
  double busy_us_ = 0;  // in contexts before that of bench_
  std::optional<Incumbent> incumbent_;
  int best_vendor_rank_ = -1;
  double best_vendor_us_ = 0;            // by measure_vendor()
  std::optional<double> fastest_us_;     // of all that was timed, vendor and own
  std::vector<int> vendor_finalists_;    // ranks that were asked for, beside the first and the best
  std::vector<int> close_vendor_ranks_;  // nearly as fast as the best in short series
  std::optional<double> vendor_error_;   // on the benchmark's own operands, largest_vendor_error()
};

}  // namespace gemmtune::tuner
