#include "tuner/session/settling.h"

namespace gemmtune::tuner {

// Of those that are under way none can have gained what is seen.
void Settling::note(double expected_gain, int known, int under_way, double best_us) {
  if (best_us < (1 - kNothingGained) * gained_us_) {
    gained_us_ = best_us;
    gained_at_ = known;
  }
  expected_gain_ = expected_gain;
  handed_out_ = known + under_way;
  const int patience = expected_gain < kLittleExpected ? kPatience : kLongPatience;
  settled_ = without_gain() >= patience;
}

}  // namespace gemmtune::tuner
