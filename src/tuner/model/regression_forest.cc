#include "tuner/model/regression_forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/parallel.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kFewestTries = 4;  // features looked at for a split

}  // namespace

// Samples by column: a split reads one feature of many samples.
struct RegressionForest::Columns {
  struct Column {
    int feature;
    std::vector<float> of_sample;
  };
  std::vector<Column> varying;  // features that are not the same in all samples
  std::vector<float> values;    // of the samples

  static Columns of(std::span<const Sample> samples);
};

// Features of other strategies than the samples' are the same in all of them.
RegressionForest::Columns RegressionForest::Columns::of(std::span<const Sample> samples) {
  Columns columns;
  columns.values.reserve(samples.size());
  for (const Sample& sample : samples) columns.values.push_back(sample.value);
  const std::vector<float>& first = samples.front().features;
  for (size_t f = 0; f < first.size(); ++f) {
    const bool varies = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
      return sample.features[f] != first[f];
    });
    if (!varies) continue;
    Column column{static_cast<int>(f), {}};
    column.of_sample.reserve(samples.size());
    for (const Sample& sample : samples) column.of_sample.push_back(sample.features[f]);
    columns.varying.push_back(std::move(column));
  }
  return columns;
}

// Grows one tree over all samples, which it orders as it splits them.
class RegressionForest::Grower {
 public:
  Grower(const Columns& columns, const Options& options, uint64_t seed)
      : columns_(columns),
        leaf_samples_(options.leaf_samples),
        tries_(std::max(kFewestTries,
                        static_cast<size_t>(options.tried_share *
                                            static_cast<double>(columns.varying.size())))),
        random_(seed),
        order_(columns.values.size()),
        values_(columns.values.size()),
        feature_(columns.values.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  Tree grow() {
    grow_node(order_);
    return std::move(tree_);
  }

 private:
  struct Split {
    const Columns::Column* column;
    float threshold;
    double score;  // higher separates better
  };

  int grow_node(std::span<uint32_t> members) {
    const int index = static_cast<int>(tree_.size());
    tree_.push_back({});
    const auto split = best_split(members);
    if (!split) {
      tree_[static_cast<size_t>(index)].value = mean(members);
      return index;
    }
    const std::vector<float>& feature = split->column->of_sample;
    const auto middle = std::partition(members.begin(), members.end(),
                                       [&](uint32_t i) { return feature[i] < split->threshold; });
    const auto below = static_cast<size_t>(middle - members.begin());
    const int left = grow_node(members.first(below));
    const int right = grow_node(members.subspan(below));
    tree_[static_cast<size_t>(index)] = {split->column->feature, split->threshold, left, right, 0};
    return index;
  }

  float mean(std::span<const uint32_t> members) const {
    double sum = 0;
    for (const uint32_t i : members) sum += columns_.values[i];
    return static_cast<float>(sum / static_cast<double>(members.size()));
  }

  // The best of random splits of a few random features; nothing for a node that stays a leaf.
  std::optional<Split> best_split(std::span<const uint32_t> members) {
    const auto& varying = columns_.varying;
    if (members.size() < 2 * leaf_samples_ || varying.empty()) return std::nullopt;
    double total = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      values_[i] = columns_.values[members[i]];
      total += values_[i];
    }
    std::optional<Split> best;
    for (size_t i = 0; i < tries_; ++i) {
      const auto split = random_split(members, total, varying[random_() % varying.size()]);
      if (split && (!best || split->score > best->score)) best = split;
    }
    return best;
  }

  // `total` is the sum of the members' values, which are in values_.
  std::optional<Split> random_split(std::span<const uint32_t> members, double total,
                                    const Columns::Column& column) {
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    for (size_t i = 0; i < members.size(); ++i) {
      feature_[i] = column.of_sample[members[i]];
      low = std::min(low, feature_[i]);
      high = std::max(high, feature_[i]);
    }
    if (!(low < high)) return std::nullopt;
    // In (low, high]: the lowest is always below it, the highest never.
    const float part = std::uniform_real_distribution<float>(0.0F, 1.0F)(random_);
    const float threshold = high - part * (high - low);
    double below = 0;
    size_t count = 0;
    for (size_t i = 0; i < members.size(); ++i) {  // without a branch, which would be a gamble
      const bool left = feature_[i] < threshold;
      below += left ? values_[i] : 0.0;
      count += left ? 1 : 0;
    }
    const size_t rest = members.size() - count;
    if (count < leaf_samples_ || rest < leaf_samples_) return std::nullopt;
    const double above = total - below;
    // Largest where the squared errors that the split leaves are smallest.
    const double score =
        below * below / static_cast<double>(count) + above * above / static_cast<double>(rest);
    return Split{&column, threshold, score};
  }

  const Columns& columns_;
  size_t leaf_samples_;
  size_t tries_;
  std::mt19937_64 random_;
  std::vector<uint32_t> order_;
  std::vector<double> values_;  // of a node's members, and one of their features
  std::vector<float> feature_;
  Tree tree_;
};

RegressionForest RegressionForest::fit(std::span<const Sample> samples, uint64_t seed,
                                       const Options& options) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> seeds(static_cast<size_t>(options.trees));
  for (uint64_t& one : seeds) one = random();
  RegressionForest forest;
  forest.trees_.resize(seeds.size());
  const Columns columns = Columns::of(samples);
  for_each_index(seeds.size(), options.threads,
                 [&](size_t i) { forest.trees_[i] = Grower(columns, options, seeds[i]).grow(); });
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
  Reader(std::string_view text, std::span<const int> places) : rest_(text), places_(places) {}

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
        static_cast<size_t>(node.feature) >= places_.size() ||
        !read_number(word.substr(colon + 1), node.threshold)) {
      return false;
    }
    node.feature = places_[static_cast<size_t>(node.feature)];
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
  std::span<const int> places_;
  Tree tree_;
};

std::optional<RegressionForest> RegressionForest::read_trees(std::span<const std::string> trees,
                                                             std::span<const int> places) {
  RegressionForest forest;
  for (const std::string& text : trees) {
    auto tree = Reader(text, places).read();
    if (!tree) return std::nullopt;
    forest.trees_.push_back(*std::move(tree));
  }
  if (forest.trees_.empty()) return std::nullopt;
  return forest;
}

}  // namespace gemmtune::tuner
