#pragma once

#include <cstdint>
#include <random>
#include <span>
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

  // Precondition: at least one sample, all with the same number of features.
  static RegressionForest fit(std::span<const Sample> samples, uint64_t seed);

  Estimate estimate(std::span<const float> features) const;

 private:
  struct Node {
    int feature = -1;  // -1: a leaf
    float threshold = 0;
    int left = 0;     // below the threshold
    int right = 0;    // the rest
    float value = 0;  // of a leaf
  };
  using Tree = std::vector<Node>;
  class Grower;

  std::vector<Tree> trees_;
};

}  // namespace gemmtune::tuner
