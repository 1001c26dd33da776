#pragma once

namespace gemmtune::cublas_preload {

using LookUp = void* (*)(void* library, const char* name) noexcept;

// The loader's dlsym. By its name this library would call its own (symbol_lookup.cc). Never null.
LookUp real_dlsym() noexcept;

}  // namespace gemmtune::cublas_preload
