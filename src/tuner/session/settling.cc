#include "tuner/session/settling.h"

namespace gemmtune::tuner {

void Settling::note(double expected_gain, int known, double best_us) {
  if (best_us < (1 - kNothingGained) * gained_us_) {
    gained_us_ = best_us;
    gained_at_ = known;
  }
  expected_gain_ = expected_gain;
  known_ = known;
  const int patience = expected_gain < kLittleExpected ? kPatience : kLongPatience;
  settled_ = without_gain() >= patience;
}

}  // namespace gemmtune::tuner
