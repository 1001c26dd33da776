#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ptxsim/machine/bulk_copy.h"
#include "ptxsim/machine/launch.h"
#include "ptxsim/machine/mbarrier.h"
#include "ptxsim/machine/race_clocks.h"
#include "ptxsim/machine/shared_memory.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

inline constexpr uint32_t kBarriers = 16;

// One of a block's named barriers. Source: PTX ISA, "bar, barrier".
struct Barrier {
  uint32_t expected = 0;  // threads, a multiple of 32; 0: all of the block
  uint32_t arrived = 0;   // threads
  uint32_t first_instruction = kNoTarget;
  uint32_t combined = 0;        // bar.red: a count, or 0 and 1
  BarrierClock clock;           // what arrivals have released
  std::vector<uint32_t> warps;  // that wait or have arrived
};

// The barrier of all threads of a cluster. Source: PTX ISA, "barrier.cluster".
struct ClusterBarrier {
  uint32_t arrived = 0;       // threads, in units of 32
  uint64_t phase = 0;         // how often it has opened
  BarrierClock clock;         // what arrivals have released
  BarrierClock opened_clock;  // ... of the phase that opened last
};
// Stands for it among the barriers that a split may wait at.
inline constexpr uint32_t kClusterBarrier = kBarriers;

class Cluster;

// One block: shared memory, barriers and warps.
class Block {
 public:
  Block(const Launch& launch, WorkerLog& log, Cluster& cluster, uint32_t rank);

  void restart(uint64_t block_index, uint32_t first_clock);

  uint64_t index() const { return index_; }  // in the grid, x fastest
  Index3 position() const { return position_; }
  uint32_t rank() const { return rank_; }  // in its cluster
  Index3 position_in_cluster() const { return position_in_cluster_; }
  SharedMemory& shared() { return shared_; }
  Cluster& cluster() { return cluster_; }
  Barrier& barrier(uint32_t id) { return barriers_[id]; }
  MBarriers& mbarriers() { return mbarriers_; }
  std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }
  bool has_ended() const;
  bool any_thread_ended() const;

 private:
  const Launch& launch_;
  Cluster& cluster_;
  uint32_t rank_;
  uint64_t index_ = 0;
  Index3 position_;
  Index3 position_in_cluster_;
  SharedMemory shared_;
  std::array<Barrier, kBarriers> barriers_;
  MBarriers mbarriers_;
  std::vector<std::unique_ptr<Warp>> warps_;
};

// Blocks that run at the same time and see each other's shared memory: one, unless the launch asks
// for clusters.
class Cluster {
 public:
  Cluster(const Launch& launch, WorkerLog& log);

  void restart(uint64_t cluster_index);

  enum class State : uint8_t { finished, running };
  // Gives every warp up to `slice` instructions at a time until all have ended or about `budget`
  // instructions are done. A deadlock or a fault is reported and ends the cluster.
  State run(uint64_t slice, uint64_t budget);

  RaceClocks& clocks() { return clocks_; }
  std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
  ClusterBarrier& barrier() { return barrier_; }
  BulkCopies& bulk_copies() { return bulk_copies_; }
  AsyncReads& async_reads() { return async_reads_; }
  GlobalMemory& memory() const { return launch_.memory; }
  // Something has happened that lets others go on: a barrier opened, a warp ended.
  void note_event() { rounds_without_event_ = 0; }

 private:
  // Nobody could go on, or some ran on and on while others wait at mbarriers.
  bool help_those_who_wait();
  void time_out_pollers();
  void report_deadlock();

  const Launch& launch_;
  RaceClocks clocks_;
  ClusterBarrier barrier_;
  BulkCopies bulk_copies_;
  AsyncReads async_reads_;
  uint32_t rounds_without_event_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Warp*> order_;
};

}  // namespace gemmtune::ptxsim
