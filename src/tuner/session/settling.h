#pragma once

#include <limits>

namespace gemmtune::tuner {

// Whether a search on a device may end before its candidates are used up: the last 48 gained
// nothing, and little is expected of the next ones. By replays of 63 searches of 130 to 360
// candidates on an H200, 94 of 158 are tried then, and their best is 0.1% behind that of all
// (1.1% in the worst; docs/performance.md, "Search").
class Settling {
 public:
  // For each batch of proposals: the share by which the best of them is expected to be faster than
  // the best so far (Search::expected_gain), how many candidates are known, and the best's time.
  void note(double expected_gain, int known, double best_us);

  // Once what was under way is done: the search goes on if that gained something.
  void confirm(int known, double best_us) { note(expected_gain_, known, best_us); }

  bool settled() const { return settled_; }
  double expected_gain() const { return expected_gain_; }

 private:
  static constexpr double kLittleExpected = 0.01;
  static constexpr double kNothingGained = 0.005;
  static constexpr int kPatience = 48;

  double expected_gain_ = 1;
  double gained_us_ =
      std::numeric_limits<double>::infinity();  // the best when something was gained
  int gained_at_ = 0;                           // with so many candidates known
  bool settled_ = false;
};

}  // namespace gemmtune::tuner
