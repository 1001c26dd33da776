#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptxsim/decode/program.h"
#include "ptxsim/machine/race_clocks.h"
#include "ptxsim/report/finding.h"

namespace gemmtune::ptxsim {

// One block's shared memory and, a granule (1, 2 or 4 bytes), who wrote it last and who read it.
// Addresses here are offsets from kSharedBase, in bounds and aligned: the caller has checked.
class SharedMemory {
 public:
  SharedMemory(uint32_t bytes, uint32_t granule, uint32_t warps);

  // Starts a new block: contents undefined (here: a pattern), nothing written.
  void restart(uint32_t first_clock);

  uint32_t bytes() const { return static_cast<uint32_t>(data_.size()); }
  std::byte* data() { return data_.data(); }

  // Each checks the lanes in `mask`, each accessing `bytes` at offset[lane], reports what is wrong
  // through the warp, and records the accesses.
  void note_read(Warp& warp, const Instruction& in, uint32_t mask, const uint32_t* offset,
                 uint32_t bytes);
  void note_write(Warp& warp, const Instruction& in, uint32_t mask, const uint32_t* offset,
                  uint32_t bytes);

  // An asynchronous write by one lane: from begin to end nobody else may touch the bytes.
  void begin_async_write(Warp& warp, const Instruction& in, uint32_t lane, uint32_t offset,
                         uint32_t bytes);
  void end_async_write(Warp& warp, const Instruction& in, uint32_t lane, uint32_t offset,
                       uint32_t bytes);

 private:
  static constexpr uint32_t kPending = 0xFFFFFFFFU;
  static constexpr uint32_t kManyLanes = 32;

  struct Write {
    uint32_t clock = 0;        // kPending: an asynchronous copy is on its way
    uint32_t instruction = 0;  // index in the program
    uint16_t thread = 0;       // warp of the cluster * 32 + lane
    bool atomic = false;
  };
  // clock << 32 | instruction << 6 | lane (kManyLanes: several)
  using Read = uint64_t;

  struct Access;
  void check_read(const Access& access, uint32_t granule);
  void check_write(const Access& access, uint32_t granule);
  void report_pending(Check check, const Access& access, uint32_t granule);
  void report_race(Check check, const Access& access, uint32_t granule, uint32_t thread,
                   uint32_t instruction);

  std::vector<std::byte> data_;
  uint32_t granule_shift_;
  uint32_t warps_;
  uint32_t first_clock_ = 1;
  std::vector<Write> writes_;  // by granule
  std::vector<Read> reads_;    // by granule, then warp
};

}  // namespace gemmtune::ptxsim
