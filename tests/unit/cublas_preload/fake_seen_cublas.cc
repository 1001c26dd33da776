#include "fake_entry.h"

namespace gemmtune::cublas_preload {
GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_FAKE)
GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_FAKE)
}  // namespace gemmtune::cublas_preload

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
