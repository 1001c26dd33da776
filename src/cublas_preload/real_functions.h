#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace gemmtune::cublas_preload {

// The function of cuBLAS or cuBLASLt that an entry point of ours stands in front of. A process may
// hold several versions of cuBLAS, and a handle of one must not reach another: the function is the
// one that the caller itself was linked to. Thread-safe; no lock and no allocation for a caller
// that is known.
class RealFunction {
 public:
  explicit constexpr RealFunction(const char* name) : name_(name) {}

  // `caller`: the address that the entry point returns to. Null, and a line on stderr once, if
  // there is no such function: then the caller cannot have called it by linking.
  void* find(void* caller);

 private:
  struct Known {
    std::atomic<void*> caller = nullptr;
    std::atomic<void*> function = nullptr;
  };

  void* remember(Known& known, void* caller);

  const char* name_;
  std::array<Known, 64> known_ = {};
};

// What find() does for a new caller: looks into the caller's library and what that needs, then into
// the libraries behind this one in the process, then into a loaded cuBLAS or cuBLASLt of any
// version.
void* look_up(const char* name, void* caller);

}  // namespace gemmtune::cublas_preload
