#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tuner/measure/benchmark.h"
#include "tuner/session/device_bench.h"
#include "tuner/session/device_final_round.h"
#include "tuner/session/evaluator.h"
#include "tuner/session/incumbency.h"

namespace gemmtune::tuner {

struct EvaluationOptions {
  bool warm = false;  // operands stay in cache
  float beta = 0;     // of what is timed
  int64_t vendor_workspace_bytes = kVendorWorkspaceBytes;
  FinalRoundOptions final_round;
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
  void add_vendor_finalist(int rank) override { found_.asked_vendor_ranks.push_back(rank); }
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override;
  double busy_seconds() const override;

 private:
  // The graph of a kernel or, without one, of an algorithm of the vendor's.
  struct Recorded {
    std::optional<launch::LoadedKernel> kernel;
    TimedGraph graph;
  };
  // What candidates are measured in turns with.
  struct Incumbent {
    Recorded recorded;
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
  void note_vendor(std::span<const VendorResult> results, const VendorResult& best);
  gpu::Result<double> largest_vendor_error(std::span<const VendorResult> results);
  gpu::Result<Evaluation> verify_and_measure(const Candidate& candidate,
                                             const jit::CompiledKernel& kernel);
  gpu::Result<Evaluation> measure(launch::LoadedKernel kernel, Evaluation evaluation);
  gpu::Result<std::vector<Contender>> run_series(const Recorded& candidate);
  void score(const Contender& candidate, double candidate_us, double incumbent_us,
             Evaluation& evaluation) const;
  gpu::Result<Evaluation> succeed_incumbent(Recorded candidate, Evaluation evaluation);
  Evaluation eliminated(double sample_us, Evaluation evaluation) const;

  DeviceServices services_;
  Problem problem_;
  EvaluationOptions options_;
  int64_t launches_ = 1;  // of a search's samples
  std::optional<DeviceBench> bench_;
  double busy_us_ = 0;  // in contexts before that of bench_
  std::optional<Incumbent> incumbent_;
  double best_vendor_us_ = 0;  // by measure_vendor()
  SearchFindings found_;
};

}  // namespace gemmtune::tuner
