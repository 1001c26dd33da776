#include "ptxsim/machine/bulk_store.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint32_t kChunk = 16;

// Other blocks, on other host threads, may add to the same elements.
void add_floats(std::byte* to, const std::byte* from, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, from + i, sizeof value);
    std::atomic_ref<uint32_t> target(*reinterpret_cast<uint32_t*>(to + i));
    uint32_t old = target.load(std::memory_order_relaxed);
    while (!target.compare_exchange_weak(old,
                                         std::bit_cast<uint32_t>(std::bit_cast<float>(old) + value),
                                         std::memory_order_relaxed)) {
    }
  }
}

void mark_written(GlobalMemory::Allocation& allocation, uint64_t address, uint32_t bytes) {
  if (allocation.written.empty()) return;
  std::memset(allocation.written.data() + (address - allocation.address), 1, bytes);
}

}  // namespace

void move_bytes(Block& block, const BulkStore& store) {
  const TensorBox& box = store.box;
  GlobalMemory& memory = block.cluster().memory();
  const uint32_t row_bytes = box.row_bytes();
  for (uint32_t r = 0; r < box.rows(); ++r) {
    const BoxRow row = row_of(box, r);
    GlobalMemory::Allocation* target = row.bytes == 0 ? nullptr : memory.find(row.address);
    if (target == nullptr || !target->contains(row.address, row.bytes)) continue;
    mark_written(*target, row.address, row.bytes);
    std::byte* to = target->data.data() + (row.address - target->address);
    for (uint32_t begin = 0; begin < row_bytes; begin += kChunk) {
      const uint32_t address = kSharedBase + store.offset + r * row_bytes + begin;
      const std::byte* from =
          block.shared().data() + (swizzled(address, box.swizzle_bytes) - kSharedBase);
      const uint32_t first = std::max(begin, row.begin);
      const uint32_t last = std::min(begin + kChunk, row.begin + row.bytes);
      if (first >= last) continue;
      if (store.adds) {
        add_floats(to + (first - row.begin), from + (first - begin), last - first);
      } else {
        std::memcpy(to + (first - row.begin), from + (first - begin), last - first);
      }
    }
  }
}

void finish(Warp& warp, const BulkStore& store) {
  if (warp.launch().options.async == AsyncMode::late) move_bytes(warp.block(), store);
  warp.block().cluster().async_reads().end(store.read, warp.clocks().now(warp.cluster_index()));
}

void finish_stores(Warp& warp) {
  for (const BulkStore& store : warp.bulk_stores) {
    warp.report(Check::store_wait, *store.in, store.lane,
                kSharedWindow + kSharedBase + store.offset, [] {
                  return "the thread ends while the copy may still read shared memory: no "
                         "cp.async.bulk.wait_group";
                });
    finish(warp, store);
  }
  warp.bulk_stores.clear();
}

}  // namespace gemmtune::ptxsim
