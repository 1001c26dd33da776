// cublasLtMatmul, and the calls that make what it is given.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {

using lt::ComputeType;
using lt::ElementType;
using lt::Layout;
using lt::Operation;
using lt::Status;

extern "C" {

Status cublasLtMatmul(lt::Handle handle, Operation operation, const void* alpha, const void* a,
                      Layout a_layout, const void* b, Layout b_layout, const void* beta,
                      const void* c, Layout c_layout, void* d, Layout d_layout,
                      const lt::Algorithm* algorithm, void* workspace, size_t workspace_bytes,
                      CUstream stream) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmul);
  const auto call = [&] {
    return real(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
                algorithm, workspace, workspace_bytes, stream);
  };
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return call();
  const MatmulStates states = {recorder->operations.get(operation), recorder->layouts.get(a_layout),
                               recorder->layouts.get(b_layout), recorder->layouts.get(c_layout),
                               recorder->layouts.get(d_layout)};
  const Product product =
      matmul_product(states, {a, b, c, d, beta}, static_cast<int64_t>(workspace_bytes));
  return recorder->record(product, stream, call);
}

Status cublasLtMatrixLayoutCreate(Layout* layout, ElementType type, uint64_t rows, uint64_t columns,
                                  int64_t ld) {
  const auto real = GEMMTUNE_REAL(cublasLtMatrixLayoutCreate);
  return noted(real(layout, type, rows, columns, ld), [&](Recorder& recorder) {
    recorder.layouts.put(*layout, new_layout(type, rows, columns, ld));
  });
}

Status cublasLtMatrixLayoutInit_internal(Layout layout, size_t bytes, ElementType type,
                                         uint64_t rows, uint64_t columns, int64_t ld) {
  const auto real = GEMMTUNE_REAL(cublasLtMatrixLayoutInit_internal);
  return noted(real(layout, bytes, type, rows, columns, ld), [&](Recorder& recorder) {
    recorder.layouts.put(layout, new_layout(type, rows, columns, ld));
  });
}

Status cublasLtMatrixLayoutSetAttribute(Layout layout, lt::LayoutAttribute attribute,
                                        const void* value, size_t bytes) {
  const auto real = GEMMTUNE_REAL(cublasLtMatrixLayoutSetAttribute);
  return noted(real(layout, attribute, value, bytes), [&](Recorder& recorder) {
    recorder.layouts.update(
        layout, [&](LayoutState& state) { set_attribute(state, attribute, value, bytes); });
  });
}

Status cublasLtMatrixLayoutDestroy(Layout layout) {
  const auto real = GEMMTUNE_REAL(cublasLtMatrixLayoutDestroy);
  // Before another thread can be given the same address.
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
    recorder->layouts.erase(layout);
  return real(layout);
}

Status cublasLtMatmulDescCreate(Operation* operation, ComputeType compute, ElementType scalars) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmulDescCreate);
  return noted(real(operation, compute, scalars), [&](Recorder& recorder) {
    recorder.operations.put(*operation, new_operation(compute, scalars));
  });
}

Status cublasLtMatmulDescInit_internal(Operation operation, size_t bytes, ComputeType compute,
                                       ElementType scalars) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmulDescInit_internal);
  return noted(real(operation, bytes, compute, scalars), [&](Recorder& recorder) {
    recorder.operations.put(operation, new_operation(compute, scalars));
  });
}

Status cublasLtMatmulDescSetAttribute(Operation operation, lt::OperationAttribute attribute,
                                      const void* value, size_t bytes) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmulDescSetAttribute);
  return noted(real(operation, attribute, value, bytes), [&](Recorder& recorder) {
    recorder.operations.update(
        operation, [&](OperationState& state) { set_attribute(state, attribute, value, bytes); });
  });
}

Status cublasLtMatmulDescDestroy(Operation operation) {
  const auto real = GEMMTUNE_REAL(cublasLtMatmulDescDestroy);
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
    recorder->operations.erase(operation);
  return real(operation);
}

}  // extern "C"

}  // namespace gemmtune::cublas_preload
