#pragma once

namespace gemmtune::cublas_preload {

using LookUp = void* (*)(void* library, const char* name) noexcept;
using Close = int (*)(void* library) noexcept;

// The loader's dlsym and dlclose. By their names this library would call its own
// (symbol_lookup.cc). Never null.
LookUp real_dlsym() noexcept;
Close real_dlclose() noexcept;

}  // namespace gemmtune::cublas_preload
