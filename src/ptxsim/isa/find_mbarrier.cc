#include "ptxsim/isa/find_mbarrier.h"

#include <fmt/format.h>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/isa/address_rows.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

void report_mbarrier(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                     const char* what) {
  warp.report(Check::mbarrier_init, in, lane, kSharedWindow + address,
              [&] { return fmt::format("at {:#x} is {}", address, what); });
}

FoundMBarrier find_mbarrier(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address) {
  const SharedPlace place = locate_shared_place(warp, in, lane, address, sizeof(uint64_t));
  if (place.block == nullptr) return {};
  const auto found = place.block->mbarriers().find(place.offset);
  if (found == place.block->mbarriers().end()) {
    report_mbarrier(warp, in, lane, address, "no mbarrier (yet)");
    return {};
  }
  MBarrier& barrier = found->second;
  const uint32_t own = warp.cluster_index();
  if (warp.checks_races() && barrier.initialising_warp != own &&
      warp.clocks().seen(own)[barrier.initialising_warp] < barrier.initialised_at) {
    report_mbarrier(warp, in, lane, address,
                    "an mbarrier that another warp initialised with no barrier between");
  }
  return {place.block, &barrier};
}

}  // namespace gemmtune::ptxsim
