#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/cuda_error.h"
#include "launch/loaded_kernel.h"
#include "tuner/measure/benchmark.h"
#include "tuner/session/device_bench.h"
#include "tuner/session/evaluator.h"
#include "tuner/session/heats.h"

namespace gemmtune::tuner {

// What a search on a device has found out that its final round goes by. Ranks are of the vendor's
// algorithms, as Evaluator::measure_vendor() numbers them.
struct SearchFindings {
  std::optional<double> fastest_us;     // of all that was timed, vendor and own
  std::optional<int> best_vendor_rank;  // none: no algorithm takes part
  std::vector<int> asked_vendor_ranks;  // to take part beside the first and the best
  std::vector<int> close_vendor_ranks;  // nearly as fast as the best in short series
  std::optional<double> vendor_error;   // on the benchmark's own operands
};

// The final round on a device: of many, heats leave some; those have turns, and the best of them
// further turns (heats.h).
class DeviceFinalRound {
 public:
  // All are the caller's and outlive the object. The context of `bench` is current for as long.
  DeviceFinalRound(const DeviceBench& bench, const DeviceServices& services,
                   const SearchFindings& found, std::span<const Finalist> finalists,
                   const FinalRoundOptions& options)
      : bench_(bench),
        services_(services),
        found_(found),
        finalists_(finalists),
        options_(options) {}

  // To be called once.
  gpu::Result<FinalResults> run();

 private:
  // A finalist's kernel, or one of the vendor's algorithms.
  struct Runner {
    std::optional<launch::LoadedKernel> kernel;
    size_t finalist = 0;   // of a kernel: its place among them
    int vendor_rank = -1;  // of an algorithm
    bool stays = false;    // whatever heats and turns say
    std::optional<TimedGraph> graph;
  };

  gpu::Result<void> load_runners();
  gpu::Result<void> run_each_algorithm() const;
  std::vector<int> vendor_ranks() const;
  bool stays(int vendor_rank) const;
  gpu::Result<std::vector<Contender>> contend();
  gpu::Result<TimedGraph> record(const Runner& runner) const;
  bool needs_heats() const;
  gpu::Result<void> run_heats();
  std::vector<Runner*> beyond_heats(std::span<const Contender> heats) const;
  gpu::Result<std::vector<Contender>> run_turns();
  std::vector<Contender> beyond_first_turns(std::vector<Contender> contenders);
  std::vector<AllTurns> shown_by(std::span<const Contender> contenders) const;
  std::optional<TimeLimit> turn_limit() const;
  gpu::Result<FinalResults> results_of(std::span<const Contender> contenders) const;
  gpu::Result<void> add_sustained(FinalResults& results) const;

  const DeviceBench& bench_;
  const DeviceServices& services_;
  const SearchFindings& found_;
  std::span<const Finalist> finalists_;
  FinalRoundOptions options_;
  std::vector<Runner> runners_;  // the finalists, and behind them the vendor's algorithms
  std::vector<Runner*> left_;    // by heats and first turns
};

}  // namespace gemmtune::tuner
