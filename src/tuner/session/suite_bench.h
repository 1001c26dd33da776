#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/session/evaluator.h"

namespace gemmtune::tuner {

// One side of a comparison: times are microseconds a call.
struct BenchSide {
  double median_us = 0;
  double ci_low_us = 0;  // 95% confidence interval of the median
  double ci_high_us = 0;
  std::string config;                        // strategy and tile, or the vendor's algorithm
  std::vector<double> samples_us{};          // of each turn, in the order taken
  std::optional<double> sm_clock_mhz{};      // the median of what was read in the turns
  std::optional<SustainedLoad> sustained{};  // where it was asked for
};

// What is compared with cuBLASLt's first choice and its fastest algorithm.
struct BenchPlan {
  std::vector<Finalist> kernels;
  std::optional<int> vendor_rank;  // one more of its algorithms, as measure_vendor() numbers them
};

// A kernel of a plan: its time, or why there is none.
struct BenchedKernel {
  std::optional<BenchSide> time;
  std::string why_not;
};

// All times are of the same interleaved rounds.
struct BenchTimes {
  std::vector<BenchedKernel> kernels;  // parallel to the plan's
  std::optional<BenchSide> vendor_first;
  std::optional<BenchSide> vendor_best;
  std::optional<BenchSide> vendor_asked;  // of BenchPlan::vendor_rank
};

// The rank, among what measure_vendor() returned, of the algorithm that a stored config describes;
// nothing where the library does not offer it.
std::optional<int> find_algorithm(std::span<const VendorResult> offered, std::string_view config);

// Verifies the kernels of `plan`, and measures those that are right beside cuBLASLt.
// `evaluator` has measured the vendor. An error means that the device failed.
Expected<BenchTimes> bench(Evaluator& evaluator, const BenchPlan& plan);

}  // namespace gemmtune::tuner
