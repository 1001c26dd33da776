#pragma once

#include <limits>

namespace gemmtune::tuner {

// Whether a search on a device may end before its candidates are used up: the last 48 gained
// nothing and little is expected of the next ones, or the last 64 gained nothing. By replays of 73
// searches of an H100, in which launch facts were varied of the best kernels only, 64 without a
// gain end them after 87 of 117, with a best that is 0.2% behind that of all (docs/performance.md,
// "Search").
class Settling {
 public:
  // For each batch of proposals: the share by which the best of them is expected to be faster than
  // the best so far (Search::expected_gain), how many candidates are known and how many more are
  // under way, and the best's time.
  void note(double expected_gain, int known, int under_way, double best_us);

  // Once what was under way is done: the search goes on if that gained something.
  void confirm(int known, double best_us) { note(expected_gain_, known, 0, best_us); }

  bool settled() const { return settled_; }
  double expected_gain() const { return expected_gain_; }
  int without_gain() const { return handed_out_ - gained_at_; }  // the latest candidates

 private:
  static constexpr double kLittleExpected = 0.01;
  static constexpr double kNothingGained = 0.005;
  static constexpr int kPatience = 48;
  static constexpr int kLongPatience = 64;

  double expected_gain_ = 1;
  double gained_us_ =
      std::numeric_limits<double>::infinity();  // the best when something was gained
  int gained_at_ = 0;                           // with so many candidates known
  int handed_out_ = 0;                          // known or under way
  bool settled_ = false;
};

}  // namespace gemmtune::tuner
