#include "tuner/finalists.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gemmtune::tuner {
namespace {

constexpr size_t kFastest = 6;

}  // namespace

void Finalists::add(double time_us, Candidate candidate) {
  if (!std::isfinite(time_us)) return;
  const auto at =
      std::upper_bound(best_.begin(), best_.end(), time_us,
                       [](double time, const Scored& scored) { return time < scored.time_us; });
  best_.insert(at, {time_us, std::move(candidate)});
  if (best_.size() > kFastest) best_.pop_back();
}

void Finalists::add_defender(double time_us, Candidate candidate) {
  defender_ = candidate;
  add(time_us, std::move(candidate));
}

std::vector<Candidate> Finalists::chosen() const {
  std::vector<Candidate> chosen;
  for (const Scored& scored : best_) chosen.push_back(scored.candidate);
  const bool among_them =
      defender_ && std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& candidate) {
        return candidate.key == defender_->key;
      });
  if (defender_ && !among_them) chosen.push_back(*defender_);
  return chosen;
}

}  // namespace gemmtune::tuner
