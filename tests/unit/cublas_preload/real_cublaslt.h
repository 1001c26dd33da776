#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "cublas_preload/descriptor_memory.h"

// A real cuBLASLt, which makes descriptors without a GPU: the one that GEMM_TUNE_TEST_CUBLASLT
// names, or one that is installed. Where there is none, the test ends as skipped.
namespace gemmtune::real_cublaslt {

namespace lt = vendor::lt;
using cublas_preload::DescriptorMemory;
using F = lt::Functions;

inline void* library() {
  static void* const handle = [] {
    const char* const named = std::getenv("GEMM_TUNE_TEST_CUBLASLT");
    for (const char* name :
         {named == nullptr ? "" : named, "libcublasLt.so.13", "libcublasLt.so.12",
          "/usr/local/cuda/lib64/libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.12"}) {
      if (*name == '\0') continue;
      if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL); found != nullptr) return found;
    }
    std::fprintf(stderr, "skipped: there is no cuBLASLt\n");
    std::exit(77);
  }();
  return handle;
}

template <class Signature>
Signature* function(const char* name) {
  auto* const found = reinterpret_cast<Signature*>(dlsym(library(), name));
  REQUIRE((found != nullptr));
  return found;
}

inline DescriptorMemory::Functions functions() {
  return {function<F::layout_init>("cublasLtMatrixLayoutInit_internal"),
          function<F::layout_set>("cublasLtMatrixLayoutSetAttribute"),
          function<F::operation_init>("cublasLtMatmulDescInit_internal"),
          function<F::operation_set>("cublasLtMatmulDescSetAttribute")};
}

// How the library keeps its descriptors.
inline const DescriptorMemory& memory() {
  static const auto tried = DescriptorMemory::try_out(functions());
  REQUIRE(tried.has_value());
  return *tried;
}

template <class State, class Descriptor>
State read(Descriptor descriptor) {
  State state;
  REQUIRE(memory().read(descriptor, state));
  return state;
}

}  // namespace gemmtune::real_cublaslt
