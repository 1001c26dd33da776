#include "tuner/session/finalists.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace gemmtune::tuner {
namespace {

constexpr size_t kFastest = 6;
constexpr int kOfGeometry = 2;

// Not as the search's geometry, of which stages are part: those change little under a lasting load.
bool same_geometry(const Candidate& a, const Candidate& b) {
  const auto sizes = [](const TileConfig& t) {
    return std::tuple(t.tile_m, t.tile_n, t.tile_k, t.warp_m, t.warp_n, t.thread_m, t.thread_n);
  };
  return a.key.strategy == b.key.strategy && sizes(a.spec.tile) == sizes(b.spec.tile);
}

bool faster(const Finalists::Scored& a, const Finalists::Scored& b) {
  const auto order = [](const Finalists::Scored& scored) {
    return std::tie(scored.time_us, scored.candidate.key);
  };
  return order(a) < order(b);
}

}  // namespace

void Finalists::add(Scored found) {
  if (!std::isfinite(found.time_us)) return;
  const auto at = std::upper_bound(best_.begin(), best_.end(), found, faster);
  const auto inserted = best_.insert(at, std::move(found));
  // Whatever comes third of its geometry gives way, be it the new one.
  int count = 0;
  const auto third = std::find_if(best_.begin(), best_.end(), [&](const Scored& scored) {
    return same_geometry(scored.candidate, inserted->candidate) && ++count > kOfGeometry;
  });
  if (third != best_.end()) best_.erase(third);
  if (best_.size() > kFastest) best_.pop_back();
}

void Finalists::add_defender(Scored found) {
  defender_ = found;
  add(std::move(found));
}

std::vector<Finalists::Scored> Finalists::chosen() const {
  std::vector<Scored> chosen = best_;
  const bool among_them =
      defender_ && std::any_of(chosen.begin(), chosen.end(), [&](const Scored& scored) {
        return scored.candidate.key == defender_->candidate.key;
      });
  if (defender_ && !among_them) chosen.push_back(*defender_);
  return chosen;
}

}  // namespace gemmtune::tuner
