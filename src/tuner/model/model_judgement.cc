#include "tuner/model/model_judgement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gemmtune::tuner {
namespace {

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The places of values in their order, from the least on.
std::vector<size_t> order_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [values](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

// Equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  const std::vector<size_t> order = order_of(values);
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + end - 1) / 2;
    for (; first < end; ++first) ranks[order[first]] = shared;
  }
  return ranks;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean_x = mean(x);
  const double mean_y = mean(y);
  double both = 0;
  double of_x = 0;
  double of_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    both += (x[i] - mean_x) * (y[i] - mean_y);
    of_x += (x[i] - mean_x) * (x[i] - mean_x);
    of_y += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return of_x > 0 && of_y > 0 ? both / std::sqrt(of_x * of_y) : 0;
}

void ModelJudge::add(std::span<const JudgedCandidate> candidates) {
  if (candidates.empty()) return;
  ++problems_;
  candidates_ += candidates.size();
  for (const JudgedCandidate& candidate : candidates) {
    if (std::isfinite(candidate.predicted_us))
      log_ratios_.push_back(std::log(candidate.predicted_us / candidate.measured_us));
  }
  if (candidates.size() >= ModelJudgement::kFewestToRank) rank(candidates);
}

void ModelJudge::rank(std::span<const JudgedCandidate> candidates) {
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const JudgedCandidate& candidate : candidates) {
    predicted.push_back(candidate.predicted_us);
    measured.push_back(candidate.measured_us);
  }
  correlations_.push_back(rank_correlation(predicted, measured));
  const double fastest = *std::min_element(measured.begin(), measured.end());
  const std::vector<size_t> order = order_of(predicted);
  double top = measured[order.front()];
  if (top <= ModelJudgement::kFirstNear * fastest) ++first_near_;
  for (size_t i = 1; i < ModelJudgement::kTop; ++i) top = std::min(top, measured[order[i]]);
  if (top <= ModelJudgement::kTopNear * fastest) ++top_near_;
}

ModelJudgement ModelJudge::judgement() const {
  ModelJudgement out;
  out.problems = problems_;
  out.candidates = candidates_;
  const double log_ratio = mean(log_ratios_);
  std::vector<double> squares;
  squares.reserve(log_ratios_.size());
  for (const double value : log_ratios_)
    squares.push_back((value - log_ratio) * (value - log_ratio));
  out.ratio = std::exp(log_ratio);
  out.spread = std::exp(std::sqrt(mean(squares)));
  out.ranked = correlations_.size();
  out.rank_correlation = mean(correlations_);
  out.top_near = top_near_;
  out.first_near = first_near_;
  return out;
}

}  // namespace gemmtune::tuner
