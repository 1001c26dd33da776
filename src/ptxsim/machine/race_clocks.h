#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gemmtune::ptxsim {

// What a barrier's arrivals have released: events by component, and how far generic writes were
// also made visible to the async proxy, by warp.
struct BarrierClock {
  std::vector<uint32_t> seen;
  std::vector<uint32_t> fenced;

  void clear() {
    seen.clear();
    fenced.clear();
  }
};

// Vector clocks of the warps of one cluster: which accesses are ordered by barriers.
//
// An access by warp v at v's time t happened before the present of warp w when
// seen(w)[v] >= t. A warp's own earlier accesses count as ordered between different lanes only
// once a warp or block barrier came between (seen(w)[w] = now(w) - 1).
// Source: C. Flanagan, S. Freund, "FastTrack" (2009), with a warp as the thread.
//
// After the warps come components of mbarriers, whose time is their phase: what TMA writes belongs
// to the phase that it completes, and whoever has seen the phase has seen the bytes.
//
// A fence.proxy.async makes the generic writes that a warp has seen visible to the async proxy;
// fenced(w) holds those, and barriers hand it on as they do seen(w).
class RaceClocks {
 public:
  explicit RaceClocks(uint32_t warps)
      : warps_(warps), now_(warps, 1), seen_(warps), fenced_(warps) {
    for (uint32_t warp = 0; warp < warps; ++warp) {
      seen_[warp].assign(warps, 0);
      fenced_[warp].assign(warps, 0);
    }
  }

  uint32_t warps() const { return warps_; }
  uint32_t now(uint32_t warp) const { return now_[warp]; }
  const uint32_t* seen(uint32_t warp) const { return seen_[warp].data(); }
  const uint32_t* fenced(uint32_t warp) const { return fenced_[warp].data(); }

  // Everything so far is in the past of a new block: returns the first time that belongs to it.
  uint32_t restart() {
    const uint32_t start =
        std::max(*std::max_element(now_.begin(), now_.end()), latest_component_time_) + 1;
    std::fill(now_.begin(), now_.end(), start);
    start_ = start;
    latest_component_time_ = start;
    for (uint32_t warp = 0; warp < warps_; ++warp) {
      seen_[warp].assign(warps_, start - 1);
      fenced_[warp].assign(warps_, start - 1);
    }
    return start;
  }

  // A new component, until the restart, whose first time is `restart()`'s.
  uint32_t add_component() {
    for (auto& row : seen_) row.push_back(start_ - 1);
    return static_cast<uint32_t>(seen_.front().size()) - 1;
  }
  uint32_t start() const { return start_; }
  // The component's time `time` has passed, which `clock` says from now on.
  void pass(uint32_t component, uint32_t time, BarrierClock& clock) {
    if (clock.seen.size() <= component) clock.seen.resize(component + 1, 0);
    clock.seen[component] = std::max(clock.seen[component], time);
    latest_component_time_ = std::max(latest_component_time_, time + 1);
  }

  // A barrier among lanes of one warp.
  void warp_barrier(uint32_t warp) { tick(warp); }

  void proxy_fence(uint32_t warp) {
    for (uint32_t i = 0; i < warps_; ++i) {
      fenced_[warp][i] = std::max(fenced_[warp][i], seen_[warp][i]);
    }
    fenced_[warp][warp] = now_[warp]++;
  }

  // Adds what `warp` did so far to a barrier's clock; what it does next is not part of it.
  void release(uint32_t warp, BarrierClock& clock) {
    add_to(clock, warp);
    tick(warp);
  }
  // The same by some lanes of a warp, which is no barrier among its lanes.
  void release_by_lane(uint32_t warp, BarrierClock& clock) {
    add_to(clock, warp);
    ++now_[warp];
  }
  // What a barrier's clock holds is in the past of `warp` from now on.
  void acquire(uint32_t warp, const BarrierClock& clock) {
    merge(clock.seen, seen_[warp]);
    merge(clock.fenced, fenced_[warp]);
  }

 private:
  static void merge(const std::vector<uint32_t>& from, std::vector<uint32_t>& to) {
    if (to.size() < from.size()) to.resize(from.size(), 0);
    for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  void add_to(BarrierClock& clock, uint32_t warp) const {
    merge(seen_[warp], clock.seen);
    merge(fenced_[warp], clock.fenced);
    clock.seen[warp] = std::max(clock.seen[warp], now_[warp]);
  }
  void tick(uint32_t warp) { seen_[warp][warp] = now_[warp]++; }

  uint32_t warps_;
  uint32_t start_ = 1;
  uint32_t latest_component_time_ = 1;
  std::vector<uint32_t> now_;
  std::vector<std::vector<uint32_t>> seen_;    // by warp, then component
  std::vector<std::vector<uint32_t>> fenced_;  // by warp, then warp
};

}  // namespace gemmtune::ptxsim
