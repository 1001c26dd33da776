#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cublas_preload/log.h"

namespace gemmtune::cublas_preload {

// What is found out once about the libraries of a process, which may hold several versions of
// cuBLAS, by the functions of theirs that are called. Thread-safe; what was found out is found
// without a lock.
template <class Known>
class KnownLibraries {
 public:
  // `find_out` says what is to be known of the library that has a function, if anything. It is not
  // called under a lock: it may look functions up, and who forgets may have the loader's lock.
  using FindOut = std::optional<Known> (*)(const void* function);
  explicit KnownLibraries(FindOut find_out) : find_out_(find_out) {}

  // Null where there is nothing to be known, or no room for more functions.
  const Known* find(const void* function) noexcept {
    size_t i = home_of(function);
    for (size_t looked = 0; looked < kProbes; ++looked, i = (i + 1) % kPlaces) {
      const Entry* const entry = places_[i].load(std::memory_order_acquire);
      if (entry != nullptr && entry->function == function) return entry->answer;
    }
    return find_out(function);
  }

  // Libraries may have gone, and others come to their addresses. What was found before stays valid.
  // May be called while the loader's list is locked.
  void forget() {
    forget_where([](const void*) { return true; });
  }

  // The same of the functions that `is_gone` says are.
  template <class IsGone>
  void forget_where(const IsGone& is_gone) {
    const std::lock_guard lock(adding_);
    ++round_;
    for (auto& place : places_) {
      const Entry* const entry = place.load(std::memory_order_relaxed);
      if (entry != nullptr && is_gone(entry->function))
        place.store(nullptr, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr size_t kPlaces = 256;
  static constexpr size_t kProbes = 16;

  // Never changed: who has read a place that is then given to another function still has its own.
  struct alignas(64) Entry {
    Entry(const void* of, std::optional<Known> found) : function(of), known(std::move(found)) {
      answer = known ? &*known : nullptr;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    const void* function;
    const Known* answer = nullptr;  // beside the function, and what is known begins there, too
    std::optional<const Known> known;
  };

  static size_t home_of(const void* function) {
    return (reinterpret_cast<uintptr_t>(function) * uint64_t{0x9E3779B97F4A7C15}) >> 40 &
           (kPlaces - 1);
  }

  [[gnu::noinline, gnu::cold]] const Known* find_out(const void* function) noexcept {
    try {
      const uint64_t round = current_round();
      return add(function, find_out_(function), round);
    } catch (const std::exception& error) {
      log_once("%s", error.what());
      return nullptr;
    }
  }

  uint64_t current_round() {
    const std::lock_guard lock(adding_);
    return round_;
  }

  // What was found out in an earlier round may be of a library that has gone: it is not kept.
  const Known* add(const void* function, std::optional<Known> found, uint64_t round) {
    auto made = std::make_unique<const Entry>(function, std::move(found));
    const std::lock_guard lock(adding_);
    size_t i = home_of(function);
    for (size_t looked = 0; looked < kProbes; ++looked, i = (i + 1) % kPlaces) {
      const Entry* const there = places_[i].load(std::memory_order_relaxed);
      if (there != nullptr && there->function == function) return there->answer;
      if (there != nullptr) continue;
      made_.push_back(std::move(made));
      const Entry* const entry = made_.back().get();
      if (round == round_) places_[i].store(entry, std::memory_order_release);
      return entry->answer;
    }
    return nullptr;
  }

  FindOut find_out_;
  std::array<std::atomic<const Entry*>, kPlaces> places_ = {};
  std::mutex adding_;
  uint64_t round_ = 0;  // of forgetting
  std::vector<std::unique_ptr<const Entry>> made_;
};

}  // namespace gemmtune::cublas_preload
