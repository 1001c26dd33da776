#include "ptxsim/machine/bulk_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/half.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint32_t kChunk = 16;  // what swizzling leaves together

// The part of [begin, end) of a row that the tensor has; the rest is zeros.
void fill_chunk(std::byte* to, uint32_t begin, const BoxRow& row, const std::byte* from) {
  const uint32_t first = std::max(begin, row.begin);
  const uint32_t last = std::min(begin + kChunk, row.begin + row.bytes);
  if (first == begin && last == begin + kChunk) {
    std::memcpy(to, from + (begin - row.begin), kChunk);
    return;
  }
  std::memset(to, 0, kChunk);
  if (first < last) std::memcpy(to + (first - begin), from + (first - row.begin), last - first);
}

void round_chunk(std::byte* chunk) {
  std::array<float, kChunk / sizeof(float)> values;
  std::memcpy(values.data(), chunk, kChunk);
  for (float& value : values) value = round_to_tf32(value, Rounding::nearest_even);
  std::memcpy(chunk, values.data(), kChunk);
}

void move_bytes(const BulkCopy& copy, GlobalMemory& memory, SharedMemory& shared) {
  const TensorBox& box = copy.box;
  const uint32_t row_bytes = box.row_bytes();
  uint32_t address = kSharedBase + copy.offset;
  for (uint32_t r = 0; r < box.rows(); ++r) {
    BoxRow row = row_of(box, r);
    const GlobalMemory::Allocation* source = row.bytes == 0 ? nullptr : memory.find(row.address);
    if (source == nullptr || !source->contains(row.address, row.bytes)) row = {};
    const std::byte* from =
        row.bytes == 0 ? nullptr : source->data.data() + (row.address - source->address);
    for (uint32_t begin = 0; begin < row_bytes; begin += kChunk, address += kChunk) {
      const uint32_t to = swizzled(address, box.swizzle_bytes) - kSharedBase;
      fill_chunk(shared.data() + to, begin, row, from);
      if (box.rounds_to_tf32) round_chunk(shared.data() + to);
    }
  }
}

}  // namespace

void start(Warp& warp, const Instruction& in, uint32_t lane, const BulkCopy& copy,
           MBarrier& barrier) {
  Cluster& cluster = warp.block().cluster();
  SharedMemory& shared = cluster.blocks()[copy.rank]->shared();
  if (warp.checks_shared()) {
    if (copy.stored_bytes > 0) {
      shared.note_async_store(warp, in, lane, copy.offset, copy.stored_bytes, barrier.component,
                              barrier.time);
    } else {
      shared.note_bulk_write(warp, in, lane, copy.offset,
                             static_cast<uint32_t>(footprint(copy.box)), barrier.component,
                             barrier.time);
    }
  }
  ++barrier.in_flight;
  barrier.copied_at = barrier.time;
  barrier.copying_instruction = warp.index_of(in);
  if (warp.launch().options.async == AsyncMode::early) {
    land(cluster, copy);
  } else {
    cluster.bulk_copies().add(copy);
  }
}

void land(Cluster& cluster, const BulkCopy& copy) {
  Block& block = *cluster.blocks()[copy.rank];
  if (copy.stored_bytes > 0) {
    std::memcpy(block.shared().data() + copy.offset, copy.stored.data(), copy.stored_bytes);
  } else {
    move_bytes(copy, cluster.memory(), block.shared());
  }
  const auto found = block.mbarriers().find(copy.barrier_offset);
  if (found == block.mbarriers().end()) return;
  MBarrier& barrier = found->second;
  barrier.bytes -= copy.stored_bytes > 0 ? copy.stored_bytes : copy.box.bytes();
  if (barrier.in_flight > 0) --barrier.in_flight;
  complete_phase_if_due(block, barrier);
}

template <class Which>
void BulkCopies::land_if(Cluster& cluster, Which which) {
  // Landing completes phases, which starts no copies.
  std::erase_if(copies_, [&](const BulkCopy& copy) {
    if (!which(copy)) return false;
    ptxsim::land(cluster, copy);
    return true;
  });
}

void BulkCopies::land(Cluster& cluster, uint32_t rank, uint32_t barrier_offset) {
  if (copies_.empty()) return;
  land_if(cluster, [&](const BulkCopy& copy) {
    return copy.rank == rank && copy.barrier_offset == barrier_offset;
  });
}

void BulkCopies::land_all(Cluster& cluster) {
  land_if(cluster, [](const BulkCopy&) { return true; });
}

void BulkCopies::land_awaited(Cluster& cluster) {
  land_if(cluster, [&](const BulkCopy& copy) {
    const uint32_t place = place_of_mbarrier(copy.rank, copy.barrier_offset);
    for (const auto& block : cluster.blocks()) {
      for (const auto& warp : block->warps()) {
        if (warp->polls(place)) return true;
      }
    }
    return false;
  });
}

}  // namespace gemmtune::ptxsim
