#include "tuner/session/finalists.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "tuner/session/heats.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kMost = 24;          // with the code that the search timed
constexpr size_t kMostToCompile = 6;  // of the others
constexpr int kOfGeometry = 2;
// Of the fastest one's time. Who is further behind would have to gain that at lower clocks.
constexpr double kWithin = 1.06;

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
  if (best_.size() > kMost) best_.pop_back();
}

void Finalists::add_defender(Scored found) {
  defender_ = found;
  add(std::move(found));
}

std::vector<Finalists::Scored> Finalists::chosen() const {
  std::vector<Scored> chosen;
  size_t to_compile = 0;
  for (const Scored& scored : best_) {
    if (chosen.size() >= kInFinalRound && scored.time_us > kWithin * best_.front().time_us) break;
    if (!scored.kernel && to_compile++ >= kMostToCompile) continue;
    chosen.push_back(scored);
  }
  const bool among_them = std::any_of(chosen.begin(), chosen.end(), [&](const Scored& scored) {
    return defends(scored.candidate);
  });
  if (defender_ && !among_them) chosen.push_back(*defender_);
  return chosen;
}

}  // namespace gemmtune::tuner
