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

  // The record of a call's product; null where nothing is known of the call.
  ProductRecord* find(uint64_t key) const {
    if (key == kNoKey) return nullptr;
    const Line& line = lines_[key % kLines];
    for (const Place& place : line.places) {
      if (place.key.load(std::memory_order_acquire) != key) continue;
      ProductRecord* const record = place.record.load(std::memory_order_acquire);
      // Neither is of another call that has taken the place meanwhile.
      if (place.key.load(std::memory_order_relaxed) == key) return record;
    }
    return nullptr;
  }

  void note(uint64_t key, ProductRecord& record) {
    if (key == kNoKey) return;
    const std::lock_guard lock(noting_);
    if (find(key) != nullptr) return;
    Line& line = lines_[key % kLines];
    Place& place = line.places[line.next++ % kPlaces];
    place.key.store(kNoKey, std::memory_order_relaxed);
    place.record.store(&record, std::memory_order_release);
    place.key.store(key, std::memory_order_release);
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
    uint32_t next = 0;  // of the places, to be taken
  };

  std::array<Line, kLines> lines_;
  SpinLock noting_;
};

}  // namespace gemmtune::cublas_preload
