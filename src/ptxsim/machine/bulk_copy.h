// Copies by the async proxy that are on their way into shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "ptxsim/decode/program.h"
#include "ptxsim/machine/tensor_box.h"

namespace gemmtune::ptxsim {

class Block;
class Cluster;

// One copy into one block's shared memory (of a multicast, each block has its own).
struct BulkCopy {
  TensorBox box;
  uint32_t rank = 0;            // of the block that is written
  uint32_t offset = 0;          // of the first byte in its shared memory
  uint32_t barrier_offset = 0;  // of the mbarrier, in the same block
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

// Moves one copy's bytes and completes them on its barrier.
void land(Cluster& cluster, const BulkCopy& copy);

}  // namespace gemmtune::ptxsim
