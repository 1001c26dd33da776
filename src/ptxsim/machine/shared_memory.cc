#include "ptxsim/machine/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

namespace {
constexpr std::byte kPattern{
    0xCB};  // unwritten shared memory: a large negative float, no small integer
}  // namespace

SharedMemory::SharedMemory(uint32_t bytes, uint32_t granule, uint32_t warps, bool by_async_proxy)
    : data_(bytes),
      granule_shift_(static_cast<uint32_t>(std::countr_zero(granule))),
      warps_(warps),
      reads_(((size_t{bytes} >> granule_shift_) + 1) * warps) {
  if (!by_async_proxy) return;
  chunk_flags_.resize((bytes >> kChunkShift) + 1);
  chunk_reads_ = ZeroArray<uint32_t>(chunk_flags_.size() * warps);
}

SharedMemory::Access SharedMemory::access_by(Warp& warp, const Instruction& in, uint32_t lane,
                                             bool atomic) const {
  const uint32_t own = warp.cluster_index();
  return {warp, in, lane, warp.clocks().now(own), warp.clocks().seen(own), atomic};
}

void SharedMemory::restart(uint32_t first_clock) {
  first_clock_ = first_clock;
  std::fill(data_.begin(), data_.end(), kPattern);
  const size_t granules = (data_.size() >> granule_shift_) + 1;
  if (writes_.size() == granules) {
    for (Write& write : writes_) {
      if (write.clock == kPending) write.clock = 0;  // of a block that ended with a fault
    }
  }
  std::fill(chunk_flags_.begin(), chunk_flags_.end(), uint8_t{0});
  mbarriers_.clear();
  writes_.resize(granules);
}

void SharedMemory::report_pending(Check check, const Access& access, uint32_t granule) {
  const Write& write = writes_[granule];
  access.warp.report(
      check, access.in, access.lane,
      kSharedWindow + kSharedBase + (uint64_t{granule} << granule_shift_), [&] {
        if (is_bulk(write)) {
          return fmt::format(
              "the copy or asynchronous store at {} into these bytes was not waited for",
              access.warp.place_of(write.instruction));
        }
        return fmt::format("the cp.async of thread {} at {} into these bytes was not waited for",
                           access.warp.thread_name(write.thread),
                           access.warp.place_of(write.instruction));
      });
}

void SharedMemory::report_race(Check check, const Access& access, uint32_t granule, uint32_t thread,
                               uint32_t instruction) {
  access.warp.report(
      check, access.in, access.lane,
      kSharedWindow + kSharedBase + (uint64_t{granule} << granule_shift_), [&] {
        const uint32_t warp = thread / 64;
        const uint32_t lane = thread % 64;
        const std::string other =
            lane == kManyLanes ? fmt::format("several threads of warp {}", warp)
                               : "thread " + access.warp.thread_name(warp * kWarpSize + lane);
        return fmt::format("{} {} the same bytes at {} with no barrier between", other,
                           check == Check::write_after_read ? "read" : "wrote",
                           access.warp.place_of(instruction));
      });
}

void SharedMemory::check_read(const Access& access, uint32_t granule) {
  const Write& write = writes_[granule];
  if (write.clock == kPending) return report_pending(Check::read_of_pending, access, granule);
  if (write.clock < first_clock_) {
    if (access.warp.checks_uninitialised()) {
      access.warp.report(Check::shared_written, access.in, access.lane,
                         kSharedWindow + kSharedBase + (uint64_t{granule} << granule_shift_),
                         [] { return "a read of shared memory that no thread has written"; });
    }
    return;
  }
  if (!access.warp.checks_races()) return;
  const uint32_t writer = write.thread / kWarpSize;
  if (write.clock <= access.seen[writer]) return;
  if (is_bulk(write)) return report_pending(Check::read_of_pending, access, granule);
  if (write.thread == access.warp.cluster_index() * kWarpSize + access.lane) return;
  if (access.atomic && write.atomic) return;
  report_race(Check::read_after_write, access, granule, writer * 64 + write.thread % kWarpSize,
              write.instruction);
}

void SharedMemory::note_read(Warp& warp, const Instruction& in, uint32_t mask,
                             const uint32_t* offset, uint32_t bytes) {
  const uint32_t own = warp.cluster_index();
  Access access = access_by(warp, in, 0, in.access.is_atomic);
  const uint32_t instruction = warp.index_of(in);
  const uint64_t stamp_high = uint64_t{access.now} << 32;
  const uint64_t stamp = stamp_high | uint64_t{instruction} << 6;
  const uint32_t count = bytes >> granule_shift_;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    access.lane = lane;
    note_chunks(offset[lane], bytes, [&](uint32_t chunk) { chunk_flags_[chunk] |= kGenericRead; });
    const uint32_t first = offset[lane] >> granule_shift_;
    for (uint32_t granule = first; granule < first + count; ++granule) {
      const Write& write = writes_[granule];
      // The usual case, one comparison each: written in this block, and ordered before now.
      if (write.clock < first_clock_ || write.clock > access.seen[write.thread / kWarpSize]) {
        check_read(access, granule);
      }
      // Atomic reads race with plain writes only, and those see this thread's own write stamp.
      if (access.atomic) continue;
      Read& read = reads_[size_t{granule} * warps_ + own];
      read = (read >> 32) == access.now && (read & 63) != lane ? stamp | kManyLanes : stamp | lane;
    }
  }
}

void SharedMemory::check_last_write(const Access& access, uint32_t granule) {
  const Write& write = writes_[granule];
  if (write.clock == kPending) return report_pending(Check::write_of_pending, access, granule);
  if (!access.warp.checks_races()) return;
  const uint32_t writer = write.thread / kWarpSize;
  if (write.clock < first_clock_ || write.clock <= access.seen[writer]) return;
  if (is_bulk(write)) return report_pending(Check::write_of_pending, access, granule);
  const uint32_t own = access.warp.cluster_index();
  if (write.thread == own * kWarpSize + access.lane || (access.atomic && write.atomic)) return;
  report_race(Check::write_after_write, access, granule, writer * 64 + write.thread % kWarpSize,
              write.instruction);
}

void SharedMemory::check_reads(const Access& access, uint32_t granule) {
  if (!access.warp.checks_races()) return;
  const uint32_t own = access.warp.cluster_index();
  const Read* reads = &reads_[size_t{granule} * warps_];
  for (uint32_t warp = 0; warp < warps_; ++warp) {
    const auto clock = static_cast<uint32_t>(reads[warp] >> 32);
    if (clock < first_clock_ || clock <= access.seen[warp]) continue;
    const auto lane = static_cast<uint32_t>(reads[warp] & 63);
    if (warp == own && lane == access.lane) continue;
    return report_race(Check::write_after_read, access, granule, warp * 64 + lane,
                       static_cast<uint32_t>(reads[warp]) >> 6);
  }
}

void SharedMemory::check_write(const Access& access, uint32_t granule) {
  check_last_write(access, granule);
  check_reads(access, granule);
}

void SharedMemory::note_write(Warp& warp, const Instruction& in, uint32_t mask,
                              const uint32_t* offset, uint32_t bytes) {
  const uint32_t own = warp.cluster_index();
  Access access = access_by(warp, in, 0, in.access.is_atomic);
  const uint32_t instruction = warp.index_of(in);
  const uint32_t count = bytes >> granule_shift_;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    access.lane = lane;
    bool was_read = chunk_flags_.empty();  // or may have been
    note_chunks(offset[lane], bytes, [&](uint32_t chunk) {
      uint8_t& flags = chunk_flags_[chunk];
      if ((flags & kAsyncRead) != 0) check_async_reads(access, chunk);
      if ((flags & kHasMbarrier) != 0) check_mbarriers(access, offset[lane], bytes);
      was_read = was_read || (flags & kGenericRead) != 0;
      flags &= static_cast<uint8_t>(~kBulkWritten);
    });
    const uint32_t first = offset[lane] >> granule_shift_;
    for (uint32_t granule = first; granule < first + count; ++granule) {
      check_last_write(access, granule);
      if (was_read) check_reads(access, granule);
      writes_[granule] = {access.now, instruction, static_cast<uint16_t>(own * kWarpSize + lane),
                          access.atomic};
    }
  }
}

void SharedMemory::begin_async_write(Warp& warp, const Instruction& in, uint32_t lane,
                                     uint32_t offset, uint32_t bytes) {
  const uint32_t own = warp.cluster_index();
  note_unfinished_write(
      access_by(warp, in, lane, false), offset, bytes,
      {kPending, warp.index_of(in), static_cast<uint16_t>(own * kWarpSize + lane), false});
}

void SharedMemory::note_unfinished_write(const Access& access, uint32_t offset, uint32_t bytes,
                                         const Write& write) {
  note_chunks(offset, bytes, [&](uint32_t chunk) {
    if ((chunk_flags_[chunk] & kAsyncRead) != 0) check_async_reads(access, chunk);
    if ((chunk_flags_[chunk] & kHasMbarrier) != 0) check_mbarriers(access, offset, bytes);
    chunk_flags_[chunk] &= static_cast<uint8_t>(~kBulkWritten);
  });
  const uint32_t first = offset >> granule_shift_;
  for (uint32_t granule = first; granule < first + (bytes >> granule_shift_); ++granule) {
    check_write(access, granule);
    writes_[granule] = write;
  }
}

void SharedMemory::end_async_write(Warp& warp, const Instruction& in, uint32_t lane,
                                   uint32_t offset, uint32_t bytes) {
  const uint32_t own = warp.cluster_index();
  const auto thread = static_cast<uint16_t>(own * kWarpSize + lane);
  const uint32_t first = offset >> granule_shift_;
  for (uint32_t granule = first; granule < first + (bytes >> granule_shift_); ++granule) {
    writes_[granule] = {warp.clocks().now(own), warp.index_of(in), thread, false};
  }
}

}  // namespace gemmtune::ptxsim
