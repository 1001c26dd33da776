#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace gemmtune::cublas_preload {

// What is known of objects of cuBLAS, by their addresses. Holds three quarters of `kCapacity` at
// the most and never allocates: programs make and destroy descriptors with every product.
// Thread-safe.
template <class Value, size_t kCapacity>
class ShadowMap {
 public:
  // Adds or replaces. Where there is no room the object stays unknown.
  void put(const void* key, const Value& value) {
    update(
        key, [&value](Value& known) { known = value; }, true);
  }

  std::optional<Value> get(const void* key) const {
    const std::lock_guard lock(mutex_);
    const Slot& slot = slots_[find(key)];
    if (slot.key == nullptr) return std::nullopt;
    return slot.value;
  }

  // Calls `look` with several values at once, null for those that are not known, and returns what
  // that does. It must not use the map.
  template <size_t kCount, class Look>
  auto visit(const std::array<const void*, kCount>& keys, const Look& look) const {
    const std::lock_guard lock(mutex_);
    std::array<const Value*, kCount> values;
    for (size_t i = 0; i < kCount; ++i) {
      const Slot& slot = slots_[find(keys[i])];
      values[i] = slot.key == nullptr ? nullptr : &slot.value;
    }
    return look(values);
  }

  // Calls `change` with the value; with a new one where it is not known and `or_add` is set.
  // Whether it was called.
  template <class Change>
  bool update(const void* key, const Change& change, bool or_add = false) {
    if (key == nullptr) return false;  // a mistake of the program, and how a free slot looks
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_[find(key)];
    if (slot.key == nullptr) {
      if (!or_add || used_ == kCapacity / 4 * 3) return false;
      ++used_;
      slot.key = key;
    }
    change(slot.value);
    return true;
  }

  void erase(const void* key) {
    const std::lock_guard lock(mutex_);
    size_t hole = find(key);
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

  // Everything is unknown again.
  void clear() {
    const std::lock_guard lock(mutex_);
    slots_.fill({});
    used_ = 0;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  static_assert((kCapacity & (kCapacity - 1)) == 0);
  static constexpr size_t kMask = kCapacity - 1;

  struct Slot {
    const void* key = nullptr;
    Value value = {};
  };

  static size_t next(size_t i) { return (i + 1) & kMask; }
  static size_t home_of(const void* key) {
    return (reinterpret_cast<uintptr_t>(key) * uint64_t{0x9E3779B97F4A7C15}) >> 40 & kMask;
  }
  // The slot of `key`, or the free one where it would go: a quarter of all is free.
  size_t find(const void* key) const {
    size_t i = home_of(key);
    while (slots_[i].key != nullptr && slots_[i].key != key) i = next(i);
    return i;
  }

  mutable std::mutex mutex_;
  std::array<Slot, kCapacity> slots_ = {};
  size_t used_ = 0;
};

}  // namespace gemmtune::cublas_preload
