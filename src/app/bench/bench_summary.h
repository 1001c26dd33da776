#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_choice.h"
#include "app/common/problems.h"
#include "tuner/session/suite_bench.h"

namespace gemmtune::app {

// What was picked, and its time where it has one.
struct BenchContender {
  std::string label;
  BenchProvenance provenance = BenchProvenance::vendor_default;
  std::string reason;
  std::optional<Problem> borrowed_from;
  std::optional<tuner::BenchSide> time;
};

// One problem. All times are of the same interleaved rounds.
struct BenchRow {
  WantedProblem wanted;
  std::optional<BenchContender> dispatched;  // what the library runs
  std::optional<BenchContender> own;         // the own kernel for it; the same where that is run
  std::optional<tuner::BenchSide> vendor_first;
  std::optional<tuner::BenchSide> vendor_best;
  std::string note;  // what is missing, and why; else empty

  // Whether the library's time can be put beside cuBLASLt's.
  bool compared() const;
};

std::optional<tuner::BenchSide> time_of(const std::optional<BenchContender>& contender);

// A vendor's time over ours: above 1, ours is faster. Nothing where one of them is missing.
std::optional<double> time_ratio(const std::optional<tuner::BenchSide>& vendor,
                                 const std::optional<tuner::BenchSide>& own);

// The same of their times under a sustained load.
std::optional<double> sustained_ratio(const std::optional<tuner::BenchSide>& vendor,
                                      const std::optional<tuner::BenchSide>& own);

// Joules per 10^12 operations of the problem under such a load; nothing where the driver does not
// tell the board's power.
std::optional<double> joules_per_tflop(const Problem& problem, const tuner::SustainedLoad& load);

// Geometric means of cuBLASLt's time over ours; above 1, ours is faster. 0 where nothing was
// compared.
struct BenchMeans {
  int rows = 0;  // that both have a time in
  double vs_first = 0;
  double vs_best = 0;
};

// All calls of one step: the sum of count * time over the problems that could be compared.
struct BenchStep {
  int64_t calls = 0;     // of the group
  int64_t compared = 0;  // of those, the sums' share
  double dispatched_us = 0;
  double vendor_first_us = 0;
  double vendor_best_us = 0;
};

// One of the vendor's sums over ours; 0 where nothing was compared.
double step_ratio(double vendor_us, const BenchStep& step);

struct BenchGroup {
  std::string name;
  int rows = 0;
  BenchStep step;
  BenchMeans dispatched;
  BenchMeans own;  // over the problems with an own kernel
};

// One per group, in the order of first appearance, and one over everything, called "all", where
// there is more than one group.
std::vector<BenchGroup> bench_groups(std::span<const BenchRow> rows);

}  // namespace gemmtune::app
