#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cublas_preload/code_lines.h"

namespace gemmtune::cublas_preload {

// The function of cuBLAS or cuBLASLt that an entry point of ours stands in front of. A process may
// hold several versions of cuBLAS, and a handle of one must not reach another: the function is the
// one that the caller itself was linked to. Thread-safe; no lock and no allocation for a caller
// that is known.
class alignas(64) RealFunction {
  struct Known {
    std::atomic<void*> caller = nullptr;
    std::atomic<void*> function = nullptr;
    std::atomic<uint32_t> round = 0;  // of looking up; stored after the others
    std::atomic<bool> of_cublas = false;
  };

 public:
  struct Found {
    void* function = nullptr;
    bool for_cublas = false;  // cuBLAS itself calls it, within a call that is counted already
  };

  // What is known for further callers. They stand apart, so that what is needed for the first ones
  // is one line of the processor's cache.
  using OtherCallers = std::array<Known, 64>;

  // `others` lives as long as it does.
  constexpr RealFunction(const char* name, OtherCallers& others) : name_(name), others_(others) {}

  // `caller`: the address that the entry point returns to. A function of null, and a line on stderr
  // once, if there is none: then the caller cannot have called it by linking.
  Found find(void* caller) {
    const uint32_t round = current_round.load(std::memory_order_acquire);
    for (const Known& known : first_) {
      if (known.caller.load(std::memory_order_acquire) == caller &&
          known.round.load(std::memory_order_acquire) == round)
        return of(known);
    }
    return find_or_look_up(caller);
  }

  // All callers are looked up anew: libraries may have gone, and others come to their addresses.
  static void forget_callers();

 private:
  static Found of(const Known& known) {
    return {known.function.load(std::memory_order_relaxed),
            known.of_cublas.load(std::memory_order_relaxed)};
  }
  [[gnu::hot]] Found find_or_look_up(void* caller);
  static void keep(const Found& found, uint32_t round, Known& known);
  [[gnu::hot]] Known* place_of(void* caller);

  // Begins at 1: what was never looked up is of round 0.
  GEMMTUNE_STATE_OF_CALLS static constinit std::atomic<uint32_t> current_round;

  std::array<Known, 2> first_;  // of most functions there are no others
  const char* name_;
  OtherCallers& others_;
};

// What find() does for a new caller: takes what the caller's library called before this one was
// attached to it; else looks into the caller's library and what that needs, then at what other
// attached libraries called, then into the libraries behind this one in the process, then into a
// loaded cuBLAS or cuBLASLt of any version.
void* look_up(const char* name, void* caller);

// The function that a loaded library has, or a library that it needs, or else a loaded cuBLAS or
// cuBLASLt. `library`: as the loader knows it; empty: the program. Null if there is none but ours.
void* look_up_for(const char* library, const char* name);

// The function of that name in the library that has `function`; null if there is none.
void* look_up_beside(const void* function, const char* name);

}  // namespace gemmtune::cublas_preload
