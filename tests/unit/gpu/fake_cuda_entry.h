#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "fake_cuda_state.h"

namespace gemmtune::fake_cuda {

// Every entry point: lock, log, injected failure, body.
template <class Body>
CUresult entry(const char* symbol, Body&& body) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (const auto code = s.arrive(symbol)) return *code;
  if (!s.initialised && std::strcmp(symbol, "cuInit") != 0) return CUDA_ERROR_NOT_INITIALIZED;
  return body(s);
}

// One that needs a usable context to be current.
template <class Body>
CUresult entry_inside(const char* symbol, Body&& body) {
  return entry(symbol, [&](State& s) {
    DeviceState* device = nullptr;
    const CUresult code = s.current(&device);
    return code == CUDA_SUCCESS ? body(s) : code;
  });
}

template <class T>
uintptr_t key(T* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}
template <class T>
T* as_handle(uintptr_t value) {
  return reinterpret_cast<T*>(value);  // NOLINT(performance-no-int-to-ptr)
}
}  // namespace gemmtune::fake_cuda
