#pragma once

#include "ptxsim/machine/mbarrier.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

struct FoundMBarrier {
  Block* block = nullptr;
  MBarrier* barrier = nullptr;  // null: none, which was reported
};

// The mbarrier at a shared address, of any block of the cluster. Reports one that another warp has
// initialised with nothing that orders this after it.
FoundMBarrier find_mbarrier(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address);

// Reports that what is at the address is `what`.
void report_mbarrier(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                     const char* what);

}  // namespace gemmtune::ptxsim
