// Named barriers of a block. Source: PTX ISA, "bar, barrier".
#pragma once

#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

enum class Arrival : uint8_t {
  waiting,  // others are still to come
  opened,   // this was the last: the others were released
  invalid,  // the arrival makes no sense, which was reported
};

// `mask` lanes of `warp` arrive at barrier `id` for `expected` threads (0: the block's), and
// go on only when it opens if `waits`.
Arrival arrive_at_barrier(Warp& warp, const Instruction& in, uint32_t mask, uint32_t id,
                          uint32_t expected, bool waits);

// A warp has ended: barriers for the whole block, and the cluster's, may be complete now.
void open_barriers_after_end(Block& block);

// `mask` lanes of `warp` arrive at their cluster's barrier; `releases`: with what they did so far.
void arrive_at_cluster_barrier(Warp& warp, uint32_t mask, bool releases);
// Whether the phase that the warp arrived for has opened; if so, it sees what others released.
bool pass_cluster_barrier(Warp& warp);

}  // namespace gemmtune::ptxsim
