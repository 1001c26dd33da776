#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace gemmtune::tuner {

// A point whose value is known.
struct Sample {
  std::vector<float> features;
  float value = 0;
};

// Extremely randomized trees (Geurts, Ernst, Wehenkel: "Extremely randomized trees", Machine
// Learning 63, 2006): each tree splits at random thresholds, the best of a few random features; a
// prediction is the mean over the trees. Learns from tens of samples, needs no scaling, and the
// spread of its trees says how far from known points it is asked.
class RegressionForest {
 public:
  struct Estimate {
    double mean = 0;
    double deviation = 0;  // standard deviation over the trees
  };

  struct Options {
    int trees = 64;
    size_t leaf_samples = 2;   // fewest of a leaf
    double tried_share = 0.5;  // of the features that vary: how many a split chooses from
    int threads = 1;           // that trees grow in; they are the same in any number
  };

  // Precondition: at least one sample, all with the same number of features.
  static RegressionForest fit(std::span<const Sample> samples, uint64_t seed,
                              const Options& options);
  static RegressionForest fit(std::span<const Sample> samples, uint64_t seed) {
    return fit(samples, seed, Options());
  }

  // Precondition: as many features as the samples had.
  Estimate estimate(std::span<const float> features) const;

  // A tree as text: its nodes, each in front of its left and its right subtree, "FEATURE:THRESHOLD"
  // or, of a leaf, "=VALUE", with four digits. read_trees() gives nothing for a text that is no
  // tree, or for none; feature i of the text is the samples' feature places[i].
  std::vector<std::string> trees_as_text() const;
  static std::optional<RegressionForest> read_trees(std::span<const std::string> trees,
                                                    std::span<const int> places);

 private:
  struct Node {
    int feature = -1;  // -1: a leaf
    float threshold = 0;
    int left = 0;     // below the threshold
    int right = 0;    // the rest
    float value = 0;  // of a leaf
  };
  using Tree = std::vector<Node>;
  struct Columns;
  class Grower;
  class Reader;

  std::vector<Tree> trees_;
};

}  // namespace gemmtune::tuner
