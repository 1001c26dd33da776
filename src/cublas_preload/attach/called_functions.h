#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "cublas_preload/attach/loaded_objects.h"

namespace gemmtune::cublas_preload {

// What the slots of attached objects led to before they led to this library, and what objects would
// have found by a function's name: the functions to hand calls on to. Thread-safe.
class CalledFunctions {
 public:
  // Those of this process. Never destroyed.
  static CalledFunctions& of_process();

  // `name` is a text that stays.
  void remember(uintptr_t object, const char* name, void* function);

  // The same, unless the object is known to call another function by that name: then false.
  bool remember_first(uintptr_t object, const char* name, void* function);

  // Objects and functions that have gone, whose addresses others may come to.
  void forget_all_but(const LoadedAddresses& loaded);

  // What the object with that load address called by that name; null where it is not known.
  void* find(uintptr_t object, std::string_view name) const;
  // What all objects called by that name, if it is one and the same; else null.
  void* find(std::string_view name) const;

 private:
  struct Called {
    uintptr_t object = 0;
    std::string_view name;
    void* function = nullptr;
  };

  mutable std::mutex mutex_;
  std::vector<Called> called_;
};

}  // namespace gemmtune::cublas_preload
