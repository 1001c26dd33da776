#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "cublas_preload/spin_lock.h"

namespace gemmtune::cublas_preload {

// What is known of objects of cuBLAS, by their addresses: a hash table, of which three quarters can
// be used. Never allocates once it is made. Thread-safe.
template <class Value, size_t kCapacity>
class ShadowMap {
 public:
  // Adds or replaces. Where there is no room the object stays unknown.
  void put(const void* key, const Value& value) {
    update(
        key, [&value](Value& known) { known = value; }, true);
  }

  std::optional<Value> get(const void* key) const {
    if (key == nullptr) return std::nullopt;
    const std::lock_guard lock(lock_);
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == nullptr ? std::nullopt : std::optional(slot.value);
  }

  // Calls `change` with the value; with a new one where it is not known and `or_add` is set.
  // Whether it was called.
  template <class Change>
  bool update(const void* key, const Change& change, bool or_add = false) {
    if (key == nullptr) return false;  // a mistake of the program, and how a free place looks
    const std::lock_guard lock(lock_);
    Slot& slot = slots_[slot_of(key)];
    if (slot.key == nullptr) {
      if (!or_add || used_ == kCapacity / 4 * 3) return false;
      ++used_;
      slot.key = key;
    }
    change(slot.value);
    return true;
  }

  void erase(const void* key) {
    if (key == nullptr) return;
    const std::lock_guard lock(lock_);
    erase_slot(slot_of(key));
  }

  // Everything is unknown again.
  void clear() {
    const std::lock_guard lock(lock_);
    std::fill_n(slots_.get(), kCapacity, Slot{});
    used_ = 0;
  }

  size_t size() const {
    const std::lock_guard lock(lock_);
    return used_;
  }

 private:
  static_assert((kCapacity & (kCapacity - 1)) == 0);
  static constexpr size_t kMask = kCapacity - 1;

  struct Slot {
    const void* key = nullptr;
    Value value = {};
  };

  void erase_slot(size_t hole) {
    if (slots_[hole].key == nullptr) return;
    --used_;
    // What was pushed along by the erased entry moves up.
    for (size_t i = next(hole); slots_[i].key != nullptr; i = next(i)) {
      const size_t home = home_of(slots_[i].key);
      if (((i - home) & kMask) < ((i - hole) & kMask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }

  static size_t next(size_t i) { return (i + 1) & kMask; }
  static size_t home_of(const void* key) {
    return (reinterpret_cast<uintptr_t>(key) * uint64_t{0x9E3779B97F4A7C15}) >> 40 & kMask;
  }
  // The slot of `key`, or the free one where it would go: a quarter of all is free.
  size_t slot_of(const void* key) const {
    size_t i = home_of(key);
    while (slots_[i].key != nullptr && slots_[i].key != key) i = next(i);
    return i;
  }

  mutable SpinLock lock_;
  size_t used_ = 0;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kCapacity);
};

}  // namespace gemmtune::cublas_preload
