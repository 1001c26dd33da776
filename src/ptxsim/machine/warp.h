#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptxsim/machine/bulk_store.h"
#include "ptxsim/machine/launch.h"
#include "ptxsim/machine/race_clocks.h"
#include "ptxsim/machine/warpgroup.h"

namespace gemmtune::ptxsim {

class Block;

// cp.async copies that one warp instruction started and some lane has not waited for yet.
struct AsyncCopy {
  const Instruction* in = nullptr;
  uint32_t mask = 0;                                 // lanes still outstanding
  uint32_t bytes = 0;                                // written per lane
  std::array<uint32_t, kWarpSize> destination = {};  // offset in shared memory
  std::array<const std::byte*, kWarpSize> source = {};
  std::array<uint32_t, kWarpSize> source_bytes = {};  // the rest is zeros
  std::array<uint32_t, kWarpSize> group = {};         // of the lane
};

// A warp of 32 lanes: registers, the lanes' places in the program, and what handlers may ask.
//
// Lanes that took different ways are kept as splits, each with its own place. A split that reaches
// its join waits there until all lanes that are still alive have come, so that diverged lanes
// meet again; a split may also block at a barrier while others go on.
class Warp {
 public:
  Warp(const Launch& launch, WorkerLog& log, Block& block, uint32_t index, uint32_t cluster_index);

  // Starts again at the kernel's first instruction, for block `ctaid`.
  void restart();

  enum class State : uint8_t { finished, blocked, out_of_slice, faulted };
  // Executes until every lane has ended or is blocked, or `slice` instructions are done.
  State run(uint64_t slice);

  // --- registers ---
  template <class T>
  T* row(Row row) {
    return reinterpret_cast<T*>(registers_ + row);
  }
  uint32_t& predicate(Row row) { return *reinterpret_cast<uint32_t*>(registers_ + row); }

  // --- surroundings ---
  const Launch& launch() const { return launch_; }
  const Program& program() const { return launch_.program; }
  WorkerLog& log() { return log_; }
  Block& block() { return block_; }
  uint32_t index() const { return index_; }                  // in its block
  uint32_t cluster_index() const { return cluster_index_; }  // in its cluster
  RaceClocks& clocks();
  uint32_t index_of(const Instruction& in) const {
    return static_cast<uint32_t>(&in - launch_.program.code.data());
  }
  std::byte* local(uint32_t lane) { return local_.data() + size_t{lane} * local_bytes_; }
  uint32_t local_bytes() const { return local_bytes_; }
  bool checks_races() const { return launch_.options.check_races; }
  bool checks_uninitialised() const { return launch_.options.check_uninitialised; }
  bool checks_shared() const { return checks_races() || checks_uninitialised(); }

  // --- lanes ---
  uint32_t initial_lanes() const { return initial_; }  // fewer than 32 in a last, partial warp
  uint32_t live_lanes() const { return live_; }        // that have not ended
  // The lanes of the running split, whatever the guard.
  uint32_t converged_lanes() const { return current_mask_; }

  // --- findings ---
  // `message` is a function that makes the text: it is called for the first of its kind only.
  template <class Message>
  void report(Check check, const Instruction& in, uint32_t lane, uint64_t address,
              Message message) {
    if (wants_report(check, in)) add_report(check, in, lane, address, message());
  }
  // Of a thread of the cluster, "(x,y,z)".
  std::string thread_name(uint32_t cluster_thread) const;
  // "ptx line 12 (a.cu:5)" of an instruction.
  std::string place_of(uint32_t instruction) const;
  // "lanes 0-15 at bar.sync 0, ptx line 12"; for deadlocks.
  std::string describe_waiting() const;
  const Instruction* waiting_instruction() const;

  // --- blocking ---
  // Releases the splits that wait at barrier `id`; handlers of barriers call `on_release` on each.
  template <class OnRelease>
  void open_barrier(uint32_t id, OnRelease on_release) {
    for (Split& split : splits_) {
      if (split.wait != Wait::barrier || split.barrier != id) continue;
      on_release(launch_.program.code[split.at], split.mask & split.waiting_lanes);
      ++split.at;
      split.wait = Wait::none;
    }
  }
  uint32_t barrier_to_wait_for = 0;  // set by a handler that returns Step::wait
  // Set by a handler that returns Step::poll: place_of_mbarrier(), and the parity for messages.
  uint32_t mbarrier_to_wait_for = 0;
  uint32_t parity_to_wait_for = 0;
  bool poll_timed_out = false;  // the handler is called again although nothing has changed
  void wake_pollers(uint32_t place);
  void time_out_pollers();
  // Whether lanes wait at this mbarrier; kSeveralMbarriers: at any.
  bool polls(uint32_t place) const;
  uint64_t cluster_phase = 0;  // of the cluster barrier, when this warp last arrived
  // Since then it has fenced mbarriers that it initialised: its next arrival shows them to all,
  // even a relaxed one.
  bool fenced_mbarriers = false;
  // For a warp-synchronous instruction executed by `mask`: whether all `members` that live are here
  // or wait for it already, at the same instruction or (any_place) at any of its kind. If so,
  // `mask` receives those that waited too and they go on; if not, the handler returns
  // Step::rendezvous.
  bool gather(const Instruction& in, uint32_t members, bool any_place, uint32_t& mask);

  // --- cp.async, one state per lane ---
  std::vector<AsyncCopy> copies;
  std::array<uint32_t, kWarpSize> committed_groups = {};

  // --- TMA stores ---
  std::vector<BulkStore> bulk_stores;  // that some lane has not waited for
  std::array<uint32_t, kWarpSize> bulk_groups = {};

  // --- wgmma ---
  WarpgroupState warpgroup;
  // Its scale-d, the same in all lanes.
  bool adds_to_sums(const Instruction& in) {
    return ((predicate(in.op[2]) & 1) != 0) != (in.variant != 0);
  }

  // The allocation of the last global access, as a hint.
  GlobalMemory::Allocation* last_allocation = nullptr;

 private:
  bool wants_report(Check check, const Instruction& in);
  std::string mbarrier_text(uint32_t place, uint32_t parity) const;
  void add_report(Check check, const Instruction& in, uint32_t lane, uint64_t address,
                  std::string message);

  enum class Wait : uint8_t { none, barrier, members, mbarrier };
  struct Split {
    uint32_t at = 0;
    uint32_t mask = 0;
    int32_t join = -1;
    Wait wait = Wait::none;
    uint32_t barrier = 0;
    uint32_t waiting_lanes = 0;  // that the guard let through
    uint32_t parity = 0;         // waited for at an mbarrier
    bool timed_out = false;
  };
  struct Join {
    uint32_t at = 0;
    uint32_t expected = 0;
    uint32_t arrived = 0;
    int32_t parent = -1;
    bool used = false;
  };

  template <bool kTrack, bool kProfile>
  State run_splits(uint64_t& slice);
  template <bool kTrack, bool kProfile>
  State run_split(size_t split, uint64_t& slice);
  int ready_split() const;
  void remove_split(size_t index);
  int32_t new_join(uint32_t at, uint32_t expected, int32_t parent);
  void arrive(int32_t join, uint32_t lanes);
  void settle(int32_t join);
  void end_lanes(int32_t join, uint32_t lanes);
  void diverge(const Split& split, const Instruction& in, uint32_t taken);
  void diverge_indirect(const Split& split, const Instruction& in, uint32_t taken);
  int32_t join_at(uint32_t reconvergence, const Split& split);
  void send(uint32_t target, uint32_t lanes, int32_t join);
  void track(const Instruction& in, uint32_t mask);
  void track_moved(const Instruction& in, uint32_t mask);
  void track_choice(const Instruction& in, uint32_t mask);
  void track_guard(const Instruction& in, uint32_t lanes);
  uint32_t defined(Row word) const { return defined_[word / kRowAlignment]; }
  void set_defined(Row word, uint32_t mask, uint32_t lanes) {
    uint32_t& known = defined_[word / kRowAlignment];
    known = (known & ~mask) | (lanes & mask);
  }
  void wake_members();
  bool release_partial_join();

  const Launch& launch_;
  WorkerLog& log_;
  Block& block_;
  uint32_t index_;
  uint32_t cluster_index_;
  uint32_t initial_ = 0;
  uint32_t live_ = 0;
  uint32_t current_mask_ = 0;
  bool tracks_wgmma_ = false;
  uint64_t executed_ = 0;
  std::unique_ptr<std::byte[]> storage_;
  std::byte* registers_ = nullptr;
  std::vector<uint32_t> defined_;  // by a word's row / kRowAlignment: lanes in which it is defined
  std::vector<std::byte> local_;
  uint32_t local_bytes_ = 0;
  std::vector<Split> splits_;
  std::vector<Join> joins_;
};

}  // namespace gemmtune::ptxsim
