#include "tuner/search/regression_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace gemmtune::tuner {
namespace {

constexpr int kTrees = 64;
constexpr size_t kLeafSamples = 2;  // fewest of a leaf
constexpr size_t kFewestTries = 4;  // features looked at for a split
constexpr size_t kTriesShare = 2;   // one in so many of those that vary

}  // namespace

// Grows one tree over all samples, which it orders as it splits them.
class RegressionForest::Grower {
 public:
  // `varying` are the features that are not the same in all samples.
  Grower(std::span<const Sample> samples, std::span<const int> varying, std::mt19937_64& random)
      : samples_(samples), varying_(varying), random_(random), order_(samples.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  Tree grow() {
    grow_node(order_);
    return std::move(tree_);
  }

 private:
  struct Split {
    int feature;
    float threshold;
    double score;  // higher separates better
  };

  int grow_node(std::span<size_t> members) {
    const int index = static_cast<int>(tree_.size());
    tree_.push_back({});
    const auto split = best_split(members);
    if (!split) {
      tree_[static_cast<size_t>(index)].value = mean(members);
      return index;
    }
    const auto middle = std::partition(members.begin(), members.end(), [&](size_t i) {
      return feature(i, split->feature) < split->threshold;
    });
    const auto below = static_cast<size_t>(middle - members.begin());
    const int left = grow_node(members.first(below));
    const int right = grow_node(members.subspan(below));
    tree_[static_cast<size_t>(index)] = {split->feature, split->threshold, left, right, 0};
    return index;
  }

  float feature(size_t sample, int index) const {
    return samples_[sample].features[static_cast<size_t>(index)];
  }

  float mean(std::span<const size_t> members) const {
    double sum = 0;
    for (const size_t i : members) sum += samples_[i].value;
    return static_cast<float>(sum / static_cast<double>(members.size()));
  }

  // The best of random splits of a few random features; nothing for a node that stays a leaf.
  std::optional<Split> best_split(std::span<const size_t> members) {
    if (members.size() < 2 * kLeafSamples || varying_.empty()) return std::nullopt;
    const size_t tries = std::max(kFewestTries, varying_.size() / kTriesShare);
    std::optional<Split> best;
    for (size_t i = 0; i < tries; ++i) {
      const auto split = random_split(members, varying_[random_() % varying_.size()]);
      if (split && (!best || split->score > best->score)) best = split;
    }
    return best;
  }

  std::optional<Split> random_split(std::span<const size_t> members, int index) {
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    for (const size_t i : members) {
      low = std::min(low, feature(i, index));
      high = std::max(high, feature(i, index));
    }
    if (!(low < high)) return std::nullopt;
    // In (low, high]: the lowest is always below it, the highest never.
    const float part = std::uniform_real_distribution<float>(0.0F, 1.0F)(random_);
    const float threshold = high - part * (high - low);
    double below = 0;
    double total = 0;
    size_t count = 0;
    for (const size_t i : members) {
      const double value = samples_[i].value;
      total += value;
      if (feature(i, index) >= threshold) continue;
      below += value;
      ++count;
    }
    const size_t rest = members.size() - count;
    if (count < kLeafSamples || rest < kLeafSamples) return std::nullopt;
    const double above = total - below;
    // Largest where the squared errors that the split leaves are smallest.
    const double score =
        below * below / static_cast<double>(count) + above * above / static_cast<double>(rest);
    return Split{index, threshold, score};
  }

  std::span<const Sample> samples_;
  std::span<const int> varying_;
  std::mt19937_64& random_;
  std::vector<size_t> order_;
  Tree tree_;
};

namespace {

// Those of other strategies than the samples' are the same in all of them.
std::vector<int> varying_features(std::span<const Sample> samples) {
  std::vector<int> varying;
  const std::vector<float>& first = samples.front().features;
  for (size_t f = 0; f < first.size(); ++f) {
    const bool varies = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
      return sample.features[f] != first[f];
    });
    if (varies) varying.push_back(static_cast<int>(f));
  }
  return varying;
}

}  // namespace

RegressionForest RegressionForest::fit(std::span<const Sample> samples, uint64_t seed) {
  std::mt19937_64 random(seed);
  RegressionForest forest;
  const std::vector<int> varying = varying_features(samples);
  for (int i = 0; i < kTrees; ++i) forest.trees_.push_back(Grower(samples, varying, random).grow());
  return forest;
}

RegressionForest::Estimate RegressionForest::estimate(std::span<const float> features) const {
  double sum = 0;
  double squares = 0;
  for (const Tree& tree : trees_) {
    size_t at = 0;
    while (tree[at].feature >= 0) {
      const Node& node = tree[at];
      const bool left = features[static_cast<size_t>(node.feature)] < node.threshold;
      at = static_cast<size_t>(left ? node.left : node.right);
    }
    sum += tree[at].value;
    squares += static_cast<double>(tree[at].value) * tree[at].value;
  }
  const auto count = static_cast<double>(trees_.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

}  // namespace gemmtune::tuner
