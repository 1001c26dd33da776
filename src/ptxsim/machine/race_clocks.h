#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gemmtune::ptxsim {

// Vector clocks of the warps of one cluster: which accesses are ordered by barriers.
//
// An access by warp v at v's time t happened before the present of warp w when
// seen(w)[v] >= t. A warp's own earlier accesses count as ordered between different lanes only
// once a warp or block barrier came between (seen(w)[w] = now(w) - 1).
// Source: C. Flanagan, S. Freund, "FastTrack" (2009), with a warp as the thread.
class RaceClocks {
 public:
  explicit RaceClocks(uint32_t warps)
      : warps_(warps), now_(warps, 1), seen_(size_t{warps} * warps, 0) {}

  uint32_t warps() const { return warps_; }
  uint32_t now(uint32_t warp) const { return now_[warp]; }
  const uint32_t* seen(uint32_t warp) const { return &seen_[size_t{warp} * warps_]; }

  // Everything so far is in the past of a new block: returns the first time that belongs to it.
  uint32_t restart() {
    const uint32_t start = *std::max_element(now_.begin(), now_.end()) + 1;
    std::fill(now_.begin(), now_.end(), start);
    std::fill(seen_.begin(), seen_.end(), start - 1);
    return start;
  }

  // A barrier among lanes of one warp.
  void warp_barrier(uint32_t warp) { tick(warp); }

  // Adds what `warp` did so far to a barrier's clock; what it does next is not part of it.
  void release(uint32_t warp, std::vector<uint32_t>& clock) {
    clock.resize(warps_, 0);
    const uint32_t* mine = seen(warp);
    for (uint32_t i = 0; i < warps_; ++i) clock[i] = std::max(clock[i], mine[i]);
    clock[warp] = std::max(clock[warp], now_[warp]);
    tick(warp);
  }
  // What a barrier's clock holds is in the past of `warp` from now on.
  void acquire(uint32_t warp, const std::vector<uint32_t>& clock) {
    uint32_t* mine = &seen_[size_t{warp} * warps_];
    for (uint32_t i = 0; i < clock.size(); ++i) mine[i] = std::max(mine[i], clock[i]);
  }

 private:
  void tick(uint32_t warp) { seen_[size_t{warp} * warps_ + warp] = now_[warp]++; }

  uint32_t warps_;
  std::vector<uint32_t> now_;
  std::vector<uint32_t> seen_;
};

}  // namespace gemmtune::ptxsim
