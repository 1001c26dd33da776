#include <dlfcn.h>

#include "descriptor_calls.h"
#include "fake_entry.h"
#include "handle_calls.h"

namespace gemmtune::cublas_preload {
GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_FAKE)
GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_FAKE)
GEMMTUNE_HANDLE_CALLS(GEMMTUNE_FAKE)
}  // namespace gemmtune::cublas_preload

namespace {

// Answers what the handle was told last by the function `setter`.
template <class Value>
gemmtune::vendor::lt::Status answer(gemmtune::vendor::blas::Handle handle, const char* setter,
                                    Value* value) {
  gemmtune::fake_cublas::Calls& calls = *gemmtune_fake_cublas();
  *value = {};
  if (!calls.told.load(std::memory_order_relaxed)) return gemmtune::vendor::lt::Status::success;
  const std::lock_guard lock(calls.mutex);
  const uint64_t bits = calls.settings[{gemmtune::fake_cublas::bits_of(handle), setter}];
  std::memcpy(value, &bits, sizeof(*value));
  return gemmtune::vendor::lt::Status::success;
}

}  // namespace

extern "C" {

using gemmtune::vendor::blas::EmulationStrategy;
using gemmtune::vendor::blas::Handle;
using gemmtune::vendor::blas::MathMode;
using gemmtune::vendor::blas::PointerMode;
using gemmtune::vendor::blas::Status;

Status cublasGetStream_v2(Handle handle, CUstream* stream) {
  return answer(handle, "cublasSetStream_v2", stream);
}
Status cublasGetPointerMode_v2(Handle handle, PointerMode* mode) {
  return answer(handle, "cublasSetPointerMode_v2", mode);
}
Status cublasGetMathMode(Handle handle, MathMode* mode) {
  return answer(handle, "cublasSetMathMode", mode);
}
Status cublasGetSmCountTarget(Handle handle, int* count) {
  return answer(handle, "cublasSetSmCountTarget", count);
}
Status cublasGetEmulationStrategy(Handle handle, EmulationStrategy* strategy) {
  return answer(handle, "cublasSetEmulationStrategy", strategy);
}

}  // extern "C"

extern "C" void gemmtune_fake_nested() {
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  lt::Layout layout = nullptr;
  lt::Operation operation = nullptr;
  cublasLtMatrixLayoutCreate(&layout, lt::ElementType::f32, 8, 8, 8);
  cublasLtMatmulDescCreate(&operation, lt::ComputeType::f32, lt::ElementType::f32);
  cublasLtMatmul(nullptr, operation, nullptr, nullptr, layout, nullptr, layout, nullptr, nullptr,
                 layout, nullptr, layout, nullptr, nullptr, 0, nullptr);
  cublasLtMatmulDescDestroy(operation);
  cublasLtMatrixLayoutDestroy(layout);
}

extern "C" int gemmtune_fake_place() {
  return 1;
}

extern "C" int gemmtune_fake_next_place() {
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "gemmtune_fake_place"))();
}
