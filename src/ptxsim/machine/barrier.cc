#include "ptxsim/machine/barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gemmtune::ptxsim {

namespace {

uint32_t live_warps(Block& block) {
  uint32_t count = 0;
  for (const auto& warp : block.warps()) count += warp->live_lanes() != 0 ? 1 : 0;
  return count;
}

bool is_complete(Block& block, const Barrier& barrier) {
  const uint32_t expected =
      barrier.expected != 0 ? barrier.expected : kWarpSize * live_warps(block);
  return barrier.arrived >= expected;
}

// bar.red writes what the barrier combined.
void write_result(Warp& warp, const Instruction& in, uint32_t lanes, uint32_t combined) {
  if (in.variant == 0) return;
  if (in.variant == 1) {
    auto* out = warp.row<uint32_t>(in.op[0]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane & 1) != 0) out[lane] = combined;
    }
  } else {
    uint32_t& out = warp.predicate(in.op[0]);
    out = combined != 0 ? out | lanes : out & ~lanes;
  }
}

void report_ended_threads(Block& block, const Instruction& in, uint32_t id) {
  for (const auto& warp : block.warps()) {
    const uint32_t ended = warp->initial_lanes() & ~warp->live_lanes();
    if (ended == 0) continue;
    warp->report(Check::ended_threads, in, static_cast<uint32_t>(std::countr_zero(ended)), 0, [&] {
      return fmt::format(
          "lanes {:#010x} of warp {} ended and never reach barrier {}, which waits "
          "for the whole block",
          ended, warp->index(), id);
    });
    return;
  }
}

void open(Block& block, uint32_t id) {
  Barrier& barrier = block.barrier(id);
  RaceClocks& clocks = block.cluster().clocks();
  const uint32_t combined = barrier.combined;
  if (barrier.expected == 0) {
    const Instruction& in = block.warps().front()->program().code[barrier.first_instruction];
    report_ended_threads(block, in, id);
  }
  for (uint32_t index : barrier.warps) {
    Warp& warp = *block.warps()[index];
    bool waited = false;
    warp.open_barrier(id, [&](const Instruction& in, uint32_t lanes) {
      waited = true;
      write_result(warp, in, lanes, combined);
    });
    if (waited) clocks.acquire(warp.cluster_index(), barrier.clock);
  }
  barrier = Barrier{};
  block.cluster().note_event();
}

uint32_t combine(const Instruction& in, Warp& warp, uint32_t lanes, uint32_t so_far, bool first) {
  if (in.variant == 0) return 0;
  const uint32_t predicate = warp.predicate(in.op[3]);
  const uint32_t yes = (in.immediate != 0 ? ~predicate : predicate) & lanes;
  if (in.variant == 1) return so_far + static_cast<uint32_t>(std::popcount(yes));
  if (in.variant == 2) return (first ? 1U : so_far) & (yes == lanes ? 1U : 0U);
  return so_far | (yes != 0 ? 1U : 0U);
}

}  // namespace

Arrival arrive_at_barrier(Warp& warp, const Instruction& in, uint32_t mask, uint32_t id,
                          uint32_t expected, bool waits) {
  Block& block = warp.block();
  Barrier& barrier = block.barrier(id);
  const bool first = barrier.arrived == 0;
  if (first) {
    barrier.expected = expected;
    barrier.first_instruction = warp.index_of(in);
  } else if (barrier.expected != expected) {
    warp.report(Check::barrier_count, in, static_cast<uint32_t>(std::countr_zero(mask)), 0, [&] {
      return fmt::format("barrier {} for {} threads, but others arrived for {} at {}", id, expected,
                         barrier.expected, warp.place_of(barrier.first_instruction));
    });
    return Arrival::invalid;
  }
  barrier.combined = combine(in, warp, mask, barrier.combined, first);
  const bool whole_warp = mask == warp.live_lanes();
  barrier.arrived += whole_warp ? kWarpSize : static_cast<uint32_t>(std::popcount(mask));
  RaceClocks& clocks = block.cluster().clocks();
  clocks.release(warp.cluster_index(), barrier.clock);
  if (std::find(barrier.warps.begin(), barrier.warps.end(), warp.index()) == barrier.warps.end()) {
    barrier.warps.push_back(warp.index());
  }
  if (!is_complete(block, barrier)) return Arrival::waiting;
  if (waits) {  // the last to come goes on at once
    write_result(warp, in, mask, barrier.combined);
    clocks.acquire(warp.cluster_index(), barrier.clock);
  }
  open(block, id);
  return Arrival::opened;
}

namespace {

// Threads that have ended count as arrived.
void open_cluster_barrier_if_complete(Cluster& cluster) {
  ClusterBarrier& barrier = cluster.barrier();
  uint32_t expected = 0;
  for (const auto& block : cluster.blocks()) expected += kWarpSize * live_warps(*block);
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  barrier.arrived = 0;
  barrier.opened_clock = std::move(barrier.clock);
  barrier.clock.clear();
  ++barrier.phase;
  cluster.note_event();
  for (const auto& block : cluster.blocks()) {
    for (const auto& warp : block->warps()) {
      bool waited = false;
      warp->open_barrier(kClusterBarrier, [&](const Instruction&, uint32_t) { waited = true; });
      if (waited) cluster.clocks().acquire(warp->cluster_index(), barrier.opened_clock);
    }
  }
}

}  // namespace

void arrive_at_cluster_barrier(Warp& warp, uint32_t mask, bool releases) {
  Cluster& cluster = warp.block().cluster();
  ClusterBarrier& barrier = cluster.barrier();
  warp.cluster_phase = barrier.phase;
  barrier.arrived +=
      mask == warp.live_lanes() ? kWarpSize : static_cast<uint32_t>(std::popcount(mask));
  const bool shows = std::exchange(warp.fenced_mbarriers, false);
  if (releases || shows) cluster.clocks().release(warp.cluster_index(), barrier.clock);
  open_cluster_barrier_if_complete(cluster);
}

bool pass_cluster_barrier(Warp& warp) {
  Cluster& cluster = warp.block().cluster();
  if (cluster.barrier().phase <= warp.cluster_phase) return false;
  cluster.clocks().acquire(warp.cluster_index(), cluster.barrier().opened_clock);
  return true;
}

void open_barriers_after_end(Block& block) {
  open_cluster_barrier_if_complete(block.cluster());
  for (uint32_t id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = block.barrier(id);
    if (barrier.arrived != 0 && barrier.expected == 0 && is_complete(block, barrier)) {
      open(block, id);
    }
  }
}

}  // namespace gemmtune::ptxsim
