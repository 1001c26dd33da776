#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "cublas_preload/spin_lock.h"

namespace gemmtune::cublas_preload {

// What is known of objects of cuBLAS, by their addresses. Programs make and destroy descriptors
// with every product, at other addresses each time: the first few that are alive stand side by
// side, so that they are found in the same lines of the processor's cache again; others in a hash
// table, of which three quarters can be used. Never allocates once it is made. Thread-safe.
template <class Value, size_t kCapacity>
class ShadowMap {
 public:
  // Adds or replaces. Where there is no room the object stays unknown.
  void put(const void* key, const Value& value) {
    update(
        key, [&value](Value& known) { known = value; }, true);
  }

  std::optional<Value> get(const void* key) const {
    return visit<1>({key}, [](const std::array<const Value*, 1>& values) {
      return values[0] == nullptr ? std::nullopt : std::optional<Value>(*values[0]);
    });
  }

  // Calls `look` with several values at once, null for those that are not known, and returns what
  // that does. It must not use the map.
  template <size_t kCount, class Look>
  auto visit(const std::array<const void*, kCount>& keys, const Look& look) const {
    const std::lock_guard lock(lock_);
    std::array<const Value*, kCount> values;
    for (size_t i = 0; i < kCount; ++i) values[i] = find(keys[i]);
    return look(values);
  }

  // Calls `change` with the value; with a new one where it is not known and `or_add` is set.
  // Whether it was called.
  template <class Change>
  bool update(const void* key, const Change& change, bool or_add = false) {
    if (key == nullptr) return false;  // a mistake of the program, and how a free place looks
    const std::lock_guard lock(lock_);
    Value* value = const_cast<Value*>(find(key));
    if (value == nullptr && or_add) value = add(key);
    if (value == nullptr) return false;
    change(*value);
    return true;
  }

  void erase(const void* key) {
    if (key == nullptr) return;
    const std::lock_guard lock(lock_);
    if (const size_t place = first_place(key); place < kFirst) {
      first_keys_[place] = nullptr;
      first_[place] = {};
      --first_used_;
    } else if (used_ > 0) {
      erase_slot(slot_of(key));
    }
  }

  // Everything is unknown again.
  void clear() {
    const std::lock_guard lock(lock_);
    first_keys_.fill(nullptr);
    first_.fill({});
    std::fill_n(slots_.get(), kCapacity, Slot{});
    first_used_ = used_ = 0;
  }

  size_t size() const {
    const std::lock_guard lock(lock_);
    return first_used_ + used_;
  }

 private:
  static_assert((kCapacity & (kCapacity - 1)) == 0);
  static constexpr size_t kMask = kCapacity - 1;
  static constexpr size_t kFirst = 6;  // with what is before them, a line of the cache

  struct Slot {
    const void* key = nullptr;
    Value value = {};
  };

  // Where `key` stands among the first, or kFirst. All are looked at, which takes no branches.
  size_t first_place(const void* key) const {
    size_t place = kFirst;
    for (size_t i = kFirst; i-- > 0;) place = first_keys_[i] == key ? i : place;
    return place;
  }

  // Null where it is not known.
  const Value* find(const void* key) const {
    if (key == nullptr) return nullptr;
    if (const size_t place = first_place(key); place < kFirst) return &first_[place];
    if (used_ == 0) return nullptr;
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == nullptr ? nullptr : &slot.value;
  }

  // A value for a key that is not known; null where there is no room.
  Value* add(const void* key) {
    if (first_used_ < kFirst) {
      const size_t place = first_place(nullptr);
      ++first_used_;
      first_keys_[place] = key;
      return &first_[place];
    }
    if (used_ == kCapacity / 4 * 3) return nullptr;
    ++used_;
    Slot& slot = slots_[slot_of(key)];
    slot.key = key;
    return &slot.value;
  }

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

  alignas(64) mutable SpinLock lock_;
  uint32_t first_used_ = 0;
  size_t used_ = 0;  // slots
  std::array<const void*, kFirst> first_keys_ = {};
  std::array<Value, kFirst> first_ = {};
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(kCapacity);
};

}  // namespace gemmtune::cublas_preload
