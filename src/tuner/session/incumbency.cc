#include "tuner/session/incumbency.h"

namespace gemmtune::tuner {

bool Incumbency::challenged(double candidate_us, double incumbent_us) {
  median_us_ = incumbent_us;
  if (own_ && candidate_us >= incumbent_us) return false;
  *this = {true, candidate_us, score_of(candidate_us, incumbent_us)};
  return true;
}

}  // namespace gemmtune::tuner
