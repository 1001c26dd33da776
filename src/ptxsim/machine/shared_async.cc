// Shared memory as the async proxy sees it.
#include <fmt/format.h>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

// A write while an async read goes on, or with nothing that orders it after the read.
void SharedMemory::check_async_reads(const Access& access, uint32_t chunk) {
  if (!access.warp.checks_races()) return;
  const AsyncReads& all = access.warp.block().cluster().async_reads();
  const uint32_t* reads = &chunk_reads_[size_t{chunk} * warps_];
  for (uint32_t warp = 0; warp < warps_; ++warp) {
    const AsyncRead* read = all.find(reads[warp]);
    if (read == nullptr) continue;
    const bool over = read->over_at != 0;
    const bool own = warp == access.warp.cluster_index();
    if (over && (own || read->over_at <= access.seen[warp])) continue;
    access.warp.report(Check::write_after_read, access.in, access.lane,
                       kSharedWindow + kSharedBase + (uint64_t{chunk} << kChunkShift), [&] {
                         return fmt::format(
                             "warp {} reads the same bytes asynchronously at {}, {}", warp,
                             access.warp.place_of(read->instruction),
                             over ? "with no barrier between" : "which it has not waited for");
                       });
    return;
  }
}

void SharedMemory::set_mbarrier(uint32_t offset, bool is_one) {
  std::erase(mbarriers_, offset);
  if (!is_one) return;
  mbarriers_.push_back(offset);
  chunk_flags_[offset >> kChunkShift] |= kHasMbarrier;
}

void SharedMemory::check_mbarriers(const Access& access, uint32_t offset, uint32_t bytes) {
  for (const uint32_t barrier : mbarriers_) {
    if (offset + bytes <= barrier || barrier + sizeof(uint64_t) <= offset) continue;
    access.warp.report(
        Check::mbarrier_overwritten, access.in, access.lane, kSharedWindow + kSharedBase + barrier,
        [&] { return fmt::format("a write of the mbarrier at {:#x}", kSharedBase + barrier); });
  }
}

void SharedMemory::note_bulk_write(Warp& warp, const Instruction& in, uint32_t lane,
                                   uint32_t offset, uint32_t bytes, uint32_t component,
                                   uint32_t time) {
  const Access access = access_by(warp, in, lane, false);
  const uint32_t per_chunk = 1U << (kChunkShift - granule_shift_);
  const Write stamp = {time, warp.index_of(in), static_cast<uint16_t>(component * kWarpSize),
                       false};
  note_chunks(offset, bytes, [&](uint32_t chunk) {
    uint8_t& flags = chunk_flags_[chunk];
    if ((flags & kAsyncRead) != 0) check_async_reads(access, chunk);
    if ((flags & kHasMbarrier) != 0) check_mbarriers(access, chunk << kChunkShift, 16);
    const uint32_t first = chunk << (kChunkShift - granule_shift_);
    const uint32_t writes = (flags & kBulkWritten) != 0 ? 1 : per_chunk;
    for (uint32_t i = 0; i < writes; ++i) check_last_write(access, first + i);
    if ((flags & kGenericRead) != 0) {
      for (uint32_t i = 0; i < per_chunk; ++i) check_reads(access, first + i);
    }
    flags = static_cast<uint8_t>(kBulkWritten | (flags & kHasMbarrier));
    for (uint32_t i = 0; i < per_chunk; ++i) writes_[first + i] = stamp;
  });
}

void SharedMemory::note_async_store(Warp& warp, const Instruction& in, uint32_t lane,
                                    uint32_t offset, uint32_t bytes, uint32_t component,
                                    uint32_t time) {
  note_unfinished_write(
      access_by(warp, in, lane, false), offset, bytes,
      {time, warp.index_of(in), static_cast<uint16_t>(component * kWarpSize), false});
}

// A generic write must have been made visible to the async proxy.
void SharedMemory::check_proxy(const Access& access, uint32_t granule) {
  const Write& write = writes_[granule];
  if (!access.warp.checks_races() || is_bulk(write)) return;
  const uint32_t writer = write.thread / kWarpSize;
  const uint32_t own = access.warp.cluster_index();
  if (write.clock <= access.warp.clocks().fenced(own)[writer]) return;
  access.warp.report(
      Check::proxy_fence, access.in, access.lane,
      kSharedWindow + kSharedBase + (uint64_t{granule} << granule_shift_), [&] {
        return fmt::format(
            "thread {} wrote the same bytes at {} with no fence.proxy.async after it",
            access.warp.thread_name(write.thread), access.warp.place_of(write.instruction));
      });
}

void SharedMemory::note_async_read(Warp& warp, const Instruction& in, uint32_t lane,
                                   const uint32_t* offsets, size_t chunks, uint32_t read) {
  const Access access = access_by(warp, in, lane, false);
  const uint32_t own = warp.cluster_index();
  for (size_t i = 0; i < chunks; ++i) {
    const uint32_t chunk = offsets[i] >> kChunkShift;
    const uint32_t first = chunk << (kChunkShift - granule_shift_);
    const uint32_t granules =
        (chunk_flags_[chunk] & kBulkWritten) != 0 ? 1 : 1U << (kChunkShift - granule_shift_);
    for (uint32_t granule = first; granule < first + granules; ++granule) {
      const Write& write = writes_[granule];
      const uint32_t writer = write.thread / kWarpSize;
      const bool ordered = write.clock >= first_clock_ && write.clock != kPending &&
                           (write.clock <= access.seen[writer] || writer == own);
      if (ordered) {
        check_proxy(access, granule);
      } else {
        check_read(access, granule);
      }
    }
    chunk_flags_[chunk] |= kAsyncRead;
    chunk_reads_[size_t{chunk} * warps_ + own] = read;
  }
}

}  // namespace gemmtune::ptxsim
