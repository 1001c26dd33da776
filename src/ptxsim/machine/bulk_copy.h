// Copies by the async proxy, and asynchronous stores, that are on their way into shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptxsim/decode/program.h"
#include "ptxsim/machine/tensor_box.h"

namespace gemmtune::ptxsim {

class Cluster;
class Warp;
struct MBarrier;

// One copy into one block's shared memory (of a multicast, each block has its own), or one store.
struct BulkCopy {
  TensorBox box;                          // of a copy
  std::array<std::byte, 16> stored = {};  // of a store: what it writes
  uint32_t stored_bytes = 0;              // 0 of a copy
  uint32_t rank = 0;                      // of the block that is written
  uint32_t offset = 0;                    // of the first byte in its shared memory
  uint32_t barrier_offset = 0;            // of the mbarrier, in the same block
};

// The copies of a cluster that have not landed. Empty with AsyncMode::early.
class BulkCopies {
 public:
  void clear() { copies_.clear(); }
  bool empty() const { return copies_.empty(); }
  void add(const BulkCopy& copy) { copies_.push_back(copy); }
  // Moves the bytes of all that complete on this barrier, and completes them there.
  void land(Cluster& cluster, uint32_t rank, uint32_t barrier_offset);
  void land_all(Cluster& cluster);
  // ... whose barrier some lane waits at.
  void land_awaited(Cluster& cluster);

 private:
  template <class Which>
  void land_if(Cluster& cluster, Which which);

  std::vector<BulkCopy> copies_;
};

// Begins a copy or a store that `in` makes for a lane and that completes on `barrier`: records what
// it writes, and moves the bytes now or later, as AsyncMode says.
void start(Warp& warp, const Instruction& in, uint32_t lane, const BulkCopy& copy,
           MBarrier& barrier);

// Moves one copy's bytes and completes them on its barrier.
void land(Cluster& cluster, const BulkCopy& copy);

}  // namespace gemmtune::ptxsim
