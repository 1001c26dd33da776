#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gemmtune::tuner {

// A candidate that was measured, and what the model predicts for it.
struct JudgedCandidate {
  double predicted_us = 0;  // may be infinite: it says that it cannot run
  double measured_us = 0;
};

// How well the model knows some kernels. The order is judged of problems with at least
// kFewestToRank candidates, whose number is `ranked`.
struct ModelJudgement {
  static constexpr size_t kFewestToRank = 30;
  static constexpr size_t kTop = 8;
  static constexpr double kTopNear = 1.05;
  static constexpr double kFirstNear = 1.10;

  size_t problems = 0;
  size_t candidates = 0;
  double ratio = 1;   // of predicted to measured times, geometric mean
  double spread = 1;  // a factor: e to the power of the standard deviation of that logarithm
  size_t ranked = 0;
  double rank_correlation = 0;  // Spearman's, mean over problems
  size_t top_near = 0;    // problems where the kTop best predicted hold one within kTopNear of the
                          // fastest that was measured
  size_t first_near = 0;  // where the best predicted is within kFirstNear
};

// Collects it, problem by problem.
class ModelJudge {
 public:
  // The candidates of one problem on one device.
  void add(std::span<const JudgedCandidate> candidates);

  ModelJudgement judgement() const;

 private:
  void rank(std::span<const JudgedCandidate> candidates);

  size_t problems_ = 0;
  size_t candidates_ = 0;
  std::vector<double> log_ratios_;
  std::vector<double> correlations_;
  size_t top_near_ = 0;
  size_t first_near_ = 0;
};

// Spearman's correlation of two lists of the same length, with the mean rank for equal values; 0
// where one of them has only equal values.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace gemmtune::tuner
