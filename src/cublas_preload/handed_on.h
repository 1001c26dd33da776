#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "cublas_preload/product_file.h"
#include "cublas_preload/spin_lock.h"

namespace gemmtune::cublas_preload {

// Calls that no own kernel computes and none ever will in this process, by a hash of what they ask
// for: so that they are handed on without finding that out again. A place may be lost to another
// call, which costs time only. Two calls of one hash would both be handed on. Thread-safe.
class HandedOn {
 public:
  static constexpr uint64_t kNoKey = 0;

  // What was seen of a call: the record of its product, null where nothing is known of it.
  struct Seen {
    ProductRecord* record = nullptr;
    uint32_t changes = 0;  // that the line had had
  };

  // What is known of a call. The record is its own only if still_holds().
  Seen look(uint64_t key) const {
    const Line& line = lines_[key % kLines];
    const uint32_t changes = line.changes.load(std::memory_order_acquire);
    for (const Place& place : line.places) {
      if (place.key.load(std::memory_order_acquire) == key)
        return {place.record.load(std::memory_order_acquire), changes};
    }
    return {};
  }

  // Whether no call was taking a place beside this one's, or its own, while it was looked for.
  bool still_holds(uint64_t key, const Seen& seen) const {
    const uint32_t changes = lines_[key % kLines].changes.load(std::memory_order_relaxed);
    return seen.changes % 2 == 0 && changes == seen.changes;
  }

  // The record of a call's product; null where nothing is known of the call, and now and then where
  // something is.
  ProductRecord* find(uint64_t key) const {
    if (key == kNoKey) return nullptr;
    const Seen seen = look(key);
    return seen.record != nullptr && still_holds(key, seen) ? seen.record : nullptr;
  }

  void note(uint64_t key, ProductRecord& record) {
    if (key == kNoKey) return;
    const std::lock_guard lock(noting_);
    if (find(key) != nullptr) return;
    Line& line = lines_[key % kLines];
    const uint32_t changes = line.changes.load(std::memory_order_relaxed);
    Place& place = line.places[changes / 2 % kPlaces];
    line.changes.store(changes + 1, std::memory_order_relaxed);
    // Whoever sees one of these sees the change above, too.
    place.record.store(&record, std::memory_order_release);
    place.key.store(key, std::memory_order_release);
    line.changes.store(changes + 2, std::memory_order_release);
  }

 private:
  static constexpr size_t kLines = 1024;
  static constexpr size_t kPlaces = 3;

  struct Place {
    std::atomic<uint64_t> key = kNoKey;
    std::atomic<ProductRecord*> record = nullptr;
  };
  // A line of the processor's cache.
  struct alignas(64) Line {
    std::array<Place, kPlaces> places;
    std::atomic<uint32_t> changes = 0;  // twice the notes taken; odd while one is being taken
  };

  std::array<Line, kLines> lines_;
  SpinLock noting_;
};

}  // namespace gemmtune::cublas_preload
