#pragma once

#include <dlfcn.h>

namespace gemmtune::cublas_preload {

// The CUDA driver that the process has loaded; null where it has none.
inline void* loaded_driver() {
  return ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

// A function of it; false if there is none.
template <class Function>
bool resolve(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(library, name));
  return to != nullptr;
}

}  // namespace gemmtune::cublas_preload
