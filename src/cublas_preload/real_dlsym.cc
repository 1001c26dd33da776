#include "cublas_preload/real_dlsym.h"

#include <dlfcn.h>

#include <atomic>

namespace gemmtune::cublas_preload {
namespace {

void* nothing(void*, const char*) noexcept {
  return nullptr;
}

LookUp find() {
  // glibc since 2.34, and before that on x86-64 and on 64-bit Arm.
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (void* const function = ::dlvsym(RTLD_NEXT, "dlsym", version); function != nullptr)
      return reinterpret_cast<LookUp>(function);
  }
  return &nothing;
}

}  // namespace

LookUp real_dlsym() noexcept {
  static std::atomic<LookUp> known = nullptr;
  LookUp function = known.load(std::memory_order_relaxed);
  if (function == nullptr) known.store(function = find(), std::memory_order_relaxed);
  return function;
}

}  // namespace gemmtune::cublas_preload
