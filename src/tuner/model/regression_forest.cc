#include "tuner/model/regression_forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace gemmtune::tuner {
namespace {

constexpr size_t kFewestTries = 4;  // features looked at for a split

}  // namespace

// Grows one tree over all samples, which it orders as it splits them.
class RegressionForest::Grower {
 public:
  // `varying` are the features that are not the same in all samples.
  Grower(std::span<const Sample> samples, std::span<const int> varying, const Options& options,
         std::mt19937_64& random)
      : samples_(samples),
        varying_(varying),
        leaf_samples_(options.leaf_samples),
        tries_(std::max(kFewestTries, static_cast<size_t>(options.tried_share *
                                                          static_cast<double>(varying.size())))),
        random_(random),
        order_(samples.size()) {
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
    if (members.size() < 2 * leaf_samples_ || varying_.empty()) return std::nullopt;
    std::optional<Split> best;
    for (size_t i = 0; i < tries_; ++i) {
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
    if (count < leaf_samples_ || rest < leaf_samples_) return std::nullopt;
    const double above = total - below;
    // Largest where the squared errors that the split leaves are smallest.
    const double score =
        below * below / static_cast<double>(count) + above * above / static_cast<double>(rest);
    return Split{index, threshold, score};
  }

  std::span<const Sample> samples_;
  std::span<const int> varying_;
  size_t leaf_samples_;
  size_t tries_;
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

RegressionForest RegressionForest::fit(std::span<const Sample> samples, uint64_t seed,
                                       const Options& options) {
  std::mt19937_64 random(seed);
  RegressionForest forest;
  const std::vector<int> varying = varying_features(samples);
  for (int i = 0; i < options.trees; ++i)
    forest.trees_.push_back(Grower(samples, varying, options, random).grow());
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

// Nodes lie in the order of the text already.
std::vector<std::string> RegressionForest::trees_as_text() const {
  std::vector<std::string> texts;
  for (const Tree& tree : trees_) {
    std::string text;
    for (const Node& node : tree) {
      if (!text.empty()) text += ' ';
      text += node.feature < 0 ? fmt::format("={:.4g}", node.value)
                               : fmt::format("{}:{:.4g}", node.feature, node.threshold);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

class RegressionForest::Reader {
 public:
  Reader(std::string_view text, size_t features) : rest_(text), features_(features) {}

  std::optional<Tree> read() {
    if (!read_node(0) || !rest_.empty()) return std::nullopt;
    return std::move(tree_);
  }

 private:
  bool read_node(int depth) {
    constexpr int kDeepest = 200;
    if (rest_.empty() || depth > kDeepest) return false;
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    const size_t index = tree_.size();
    tree_.push_back({});
    if (word.front() == '=') return read_number(word.substr(1), tree_[index].value);
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos) return false;
    Node node;
    if (!read_number(word.substr(0, colon), node.feature) || node.feature < 0 ||
        static_cast<size_t>(node.feature) >= features_ ||
        !read_number(word.substr(colon + 1), node.threshold)) {
      return false;
    }
    node.left = static_cast<int>(tree_.size());
    if (!read_node(depth + 1)) return false;
    node.right = static_cast<int>(tree_.size());
    if (!read_node(depth + 1)) return false;
    tree_[index] = node;
    return true;
  }

  template <class Number>
  static bool read_number(std::string_view text, Number& out) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, out);
    return code == std::errc() && stop == end && std::isfinite(static_cast<double>(out));
  }

  std::string_view rest_;
  size_t features_;
  Tree tree_;
};

std::optional<RegressionForest> RegressionForest::read_trees(std::span<const std::string> trees,
                                                             size_t features) {
  RegressionForest forest;
  for (const std::string& text : trees) {
    auto tree = Reader(text, features).read();
    if (!tree) return std::nullopt;
    forest.trees_.push_back(*std::move(tree));
  }
  if (forest.trees_.empty()) return std::nullopt;
  return forest;
}

}  // namespace gemmtune::tuner
