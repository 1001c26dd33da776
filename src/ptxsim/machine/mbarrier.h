// Barriers in shared memory that count arrivals and bytes. Source: PTX ISA, "mbarrier".
//
// Their state is kept beside shared memory: the 64 bits themselves are opaque to a kernel.
#pragma once

#include <cstdint>
#include <map>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/program.h"
#include "ptxsim/machine/race_clocks.h"

namespace gemmtune::ptxsim {

class Block;
class Cluster;
class Warp;

struct MBarrier {
  uint32_t offset = 0;  // in its block's shared memory
  uint32_t expected = 0;
  uint32_t pending = 0;  // arrivals that the phase still waits for
  int64_t bytes = 0;     // expected less completed
  uint64_t phase = 0;    // how many are complete
  uint32_t component = 0;
  uint32_t time = 0;  // of the component: that of the current phase
  uint32_t initialising_warp = 0;
  uint32_t initialised_at = 0;  // of that warp's clock
  uint32_t in_flight = 0;       // copies that are still to complete on it
  uint32_t overtaken = 0;       // ... when the phase before the current one was completed
  uint32_t copied_at = 0;       // time of the last phase that a copy belongs to
  uint32_t copying_instruction = 0;
  BarrierClock clock;         // what arrivals of this phase have released
  BarrierClock opened_clock;  // ... of the phase that was completed last

  // Whether the phase of this parity is complete, of the current one and the one before.
  bool has_passed(uint32_t parity) const { return (phase & 1) != parity; }
};

// A block's, by offset.
using MBarriers = std::map<uint32_t, MBarrier>;

// What counts and bytes may be.
inline constexpr uint32_t kMostArrivals = (1U << 20) - 1;
inline constexpr int64_t kMostBytes = (1 << 20) - 1;

// Where a barrier is, as a number that is unique in a cluster; what waiting lanes note.
inline uint32_t place_of_mbarrier(uint32_t rank, uint32_t offset) {
  return rank << kClusterRankShift | offset;
}
inline constexpr uint32_t kSeveralMbarriers = 0xFFFFFFFFU;  // lanes that wait at different ones

// Completes the phase when nothing is missing any more, and lets those go on who wait for it.
void complete_phase_if_due(Block& block, MBarrier& barrier);

// A block has ended: reports copies into it that none of its warps has waited for.
void check_copies_at_end(Block& block);

}  // namespace gemmtune::ptxsim
