#include "ptxsim/machine/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

void complete_phase_if_due(Block& block, MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  Cluster& cluster = block.cluster();
  ++barrier.phase;
  barrier.overtaken = barrier.in_flight;
  barrier.pending = barrier.expected;
  barrier.opened_clock = std::move(barrier.clock);
  barrier.clock.clear();
  cluster.clocks().pass(barrier.component, barrier.time, barrier.opened_clock);
  ++barrier.time;
  cluster.note_event();
  const uint32_t place = place_of_mbarrier(block.rank(), barrier.offset);
  for (const auto& other : cluster.blocks()) {
    for (const auto& warp : other->warps()) warp->wake_pollers(place);
  }
}

void check_copies_at_end(Block& block) {
  Warp& first = *block.warps().front();
  if (!first.checks_races()) return;
  for (const auto& entry : block.mbarriers()) {
    const MBarrier& barrier = entry.second;
    const auto has_seen = [&](const auto& warp) {
      return first.clocks().seen(warp->cluster_index())[barrier.component] >= barrier.copied_at;
    };
    if (barrier.copied_at == 0 ||
        std::any_of(block.warps().begin(), block.warps().end(), has_seen)) {
      continue;
    }
    first.report(Check::bulk_wait, first.program().code[barrier.copying_instruction], 0,
                 kSharedWindow + kSharedBase + barrier.offset, [&] {
                   return fmt::format(
                       "the block ends while the copy may still write its shared memory: nobody "
                       "waited at the mbarrier at {:#x}",
                       kSharedBase + barrier.offset);
                 });
  }
}

}  // namespace gemmtune::ptxsim
