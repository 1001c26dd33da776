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
      if (places_[i].function.load(std::memory_order_acquire) == function)
        return places_[i].known.load(std::memory_order_relaxed);
    }
    return find_out(function);
  }

  // Libraries may have gone, and others come to their addresses. What was found before stays valid.
  // May be called while the loader's list is locked.
  void forget() {
    const std::lock_guard lock(adding_);
    for (Place& place : places_) place.function.store(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kPlaces = 256;
  static constexpr size_t kProbes = 16;

  struct Place {
    std::atomic<const void*> function = nullptr;  // stored after what is known
    std::atomic<const Known*> known = nullptr;
  };

  static size_t home_of(const void* function) {
    return (reinterpret_cast<uintptr_t>(function) * uint64_t{0x9E3779B97F4A7C15}) >> 40 &
           (kPlaces - 1);
  }

  [[gnu::noinline, gnu::cold]] const Known* find_out(const void* function) noexcept {
    try {
      return add(function, find_out_(function));
    } catch (const std::exception& error) {
      log_once("%s", error.what());
      return nullptr;
    }
  }

  const Known* add(const void* function, std::optional<Known> found) {
    const std::lock_guard lock(adding_);
    size_t i = home_of(function);
    for (size_t looked = 0; looked < kProbes; ++looked, i = (i + 1) % kPlaces) {
      Place& place = places_[i];
      const void* const there = place.function.load(std::memory_order_relaxed);
      if (there != nullptr && there != function) continue;
      if (there == nullptr) {
        const Known* known = nullptr;
        if (found) {
          made_.push_back(std::make_unique<const Known>(*std::move(found)));
          known = made_.back().get();
        }
        place.known.store(known, std::memory_order_relaxed);
        place.function.store(function, std::memory_order_release);
      }
      return place.known.load(std::memory_order_relaxed);
    }
    return nullptr;
  }

  FindOut find_out_;
  std::array<Place, kPlaces> places_;
  std::mutex adding_;
  std::vector<std::unique_ptr<const Known>> made_;
};

}  // namespace gemmtune::cublas_preload
