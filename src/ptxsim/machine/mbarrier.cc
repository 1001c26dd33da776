#include "ptxsim/machine/mbarrier.h"

#include <utility>

#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

void complete_phase_if_due(Block& block, MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  Cluster& cluster = block.cluster();
  ++barrier.phase;
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

}  // namespace gemmtune::ptxsim
