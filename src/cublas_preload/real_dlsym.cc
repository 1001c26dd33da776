#include "cublas_preload/real_dlsym.h"

#include <dlfcn.h>

#include <atomic>

namespace gemmtune::cublas_preload {
namespace {

void* find_nothing(void*, const char*) noexcept {
  return nullptr;
}

int close_nothing(void*) noexcept {
  return -1;
}

// A function of the loader; `otherwise` where there is none.
template <class Function>
Function behind_us(const char* name, Function otherwise) {
  // glibc since 2.34, and before that on x86-64 and on 64-bit Arm.
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (void* const function = ::dlvsym(RTLD_NEXT, name, version); function != nullptr)
      return reinterpret_cast<Function>(function);
  }
  return otherwise;
}

}  // namespace

LookUp real_dlsym() noexcept {
  static std::atomic<LookUp> known = nullptr;
  LookUp function = known.load(std::memory_order_relaxed);
  if (function == nullptr)
    known.store(function = behind_us("dlsym", &find_nothing), std::memory_order_relaxed);
  return function;
}

Close real_dlclose() noexcept {
  static std::atomic<Close> known = nullptr;
  Close function = known.load(std::memory_order_relaxed);
  if (function == nullptr)
    known.store(function = behind_us("dlclose", &close_nothing), std::memory_order_relaxed);
  return function;
}

}  // namespace gemmtune::cublas_preload
