#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptxsim/decode/program.h"
#include "ptxsim/machine/async_reads.h"
#include "ptxsim/machine/race_clocks.h"
#include "ptxsim/machine/zero_array.h"
#include "ptxsim/report/finding.h"

namespace gemmtune::ptxsim {

// One block's shared memory and, a granule (1, 2 or 4 bytes), who wrote it last and who read it.
// Addresses here are offsets from kSharedBase, in bounds and aligned: the caller has checked.
class SharedMemory {
 public:
  // `by_async_proxy`: whether TMA or wgmma may access it.
  SharedMemory(uint32_t bytes, uint32_t granule, uint32_t warps, bool by_async_proxy);

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

  // The async proxy's accesses, by chunks of 16 bytes, on behalf of a lane. A write belongs to a
  // time of an mbarrier's component of the clocks: it is over when that has passed.
  void note_bulk_write(Warp& warp, const Instruction& in, uint32_t lane, uint32_t offset,
                       uint32_t bytes, uint32_t component, uint32_t time);
  // An asynchronous store, which is over likewise.
  void note_async_store(Warp& warp, const Instruction& in, uint32_t lane, uint32_t offset,
                        uint32_t bytes, uint32_t component, uint32_t time);
  // `read`: of the cluster's AsyncReads.
  void note_async_read(Warp& warp, const Instruction& in, uint32_t lane, const uint32_t* offsets,
                       size_t chunks, uint32_t read);

  // An mbarrier's 8 bytes, which nothing else may write from now on until `is_one` is false.
  void set_mbarrier(uint32_t offset, bool is_one);

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

  struct Access {
    Warp& warp;
    const Instruction& in;
    uint32_t lane;
    uint32_t now;
    const uint32_t* seen;
    bool atomic;
  };
  Access access_by(Warp& warp, const Instruction& in, uint32_t lane, bool atomic) const;
  // Checks a write that is over later, and records it as `write`.
  void note_unfinished_write(const Access& access, uint32_t offset, uint32_t bytes,
                             const Write& write);
  void check_read(const Access& access, uint32_t granule);
  void check_write(const Access& access, uint32_t granule);
  void check_last_write(const Access& access, uint32_t granule);
  void check_reads(const Access& access, uint32_t granule);
  void check_async_reads(const Access& access, uint32_t chunk);
  void check_mbarriers(const Access& access, uint32_t offset, uint32_t bytes);
  void check_proxy(const Access& access, uint32_t granule);
  bool is_bulk(const Write& write) const { return write.thread / kWarpSize >= warps_; }
  void report_pending(Check check, const Access& access, uint32_t granule);
  void report_race(Check check, const Access& access, uint32_t granule, uint32_t thread,
                   uint32_t instruction);

  std::vector<std::byte> data_;
  uint32_t granule_shift_;
  uint32_t warps_;
  uint32_t first_clock_ = 1;
  std::vector<Write> writes_;  // by granule
  ZeroArray<Read> reads_;      // by granule, then warp

  // By chunk, empty unless the async proxy may access the memory.
  static constexpr uint32_t kChunkShift = 4;
  static constexpr uint8_t kGenericRead = 1;  // since the last bulk write
  static constexpr uint8_t kBulkWritten = 2;  // and nothing else since
  static constexpr uint8_t kAsyncRead = 4;
  static constexpr uint8_t kHasMbarrier = 8;  // or had one
  template <class F>
  void note_chunks(uint32_t offset, uint32_t bytes, F f) {
    if (chunk_flags_.empty()) return;
    const uint32_t last = (offset + bytes - 1) >> kChunkShift;
    for (uint32_t chunk = offset >> kChunkShift; chunk <= last; ++chunk) f(chunk);
  }
  std::vector<uint8_t> chunk_flags_;
  std::vector<uint32_t> mbarriers_;  // offsets
  ZeroArray<uint32_t> chunk_reads_;  // by chunk, then warp: the last async read
};

}  // namespace gemmtune::ptxsim
