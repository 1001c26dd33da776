// What a cuBLAS handle is told about its products.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;
using vendor::blas::MathMode;
using vendor::blas::PointerMode;
using vendor::blas::Status;

// Notes what a call of `real` has changed.
template <class Function, class Change>
Status set(const Function& real, Status status, Handle handle, const Change& change) {
  return noted(status, [&](Recorder& recorder) {
    if (recorder.handles.update(handle, change)) return;
    settings_of(recorder, handle, real.address());
    recorder.handles.update(handle, change, /*or_add=*/true);
  });
}

}  // namespace

extern "C" {

Status cublasCreate_v2(Handle* handle) {
  const auto real = GEMMTUNE_REAL(cublasCreate_v2);
  return noted(real(handle), [&](Recorder& recorder) {
    HandleState state;
    state.known = true;
    recorder.handles.put(*handle, state);
  });
}

Status cublasDestroy_v2(Handle handle) {
  const auto real = GEMMTUNE_REAL(cublasDestroy_v2);
  // Before another thread can be given the same address.
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
    recorder->handles.erase(handle);
  return real(handle);
}

Status cublasSetStream_v2(Handle handle, CUstream stream) {
  const auto real = GEMMTUNE_REAL(cublasSetStream_v2);
  return set(real, real(handle, stream), handle, [&](HandleState& state) {
    state.stream = stream;
    state.workspace_bytes = Product::kOwnWorkspace;
  });
}

Status cublasSetWorkspace_v2(Handle handle, void* workspace, size_t bytes) {
  const auto real = GEMMTUNE_REAL(cublasSetWorkspace_v2);
  return set(real, real(handle, workspace, bytes), handle,
             [&](HandleState& state) { state.workspace_bytes = static_cast<int64_t>(bytes); });
}

Status cublasSetPointerMode_v2(Handle handle, PointerMode mode) {
  const auto real = GEMMTUNE_REAL(cublasSetPointerMode_v2);
  return set(real, real(handle, mode), handle,
             [&](HandleState& state) { state.pointer_mode = mode; });
}

Status cublasSetMathMode(Handle handle, MathMode mode) {
  const auto real = GEMMTUNE_REAL(cublasSetMathMode);
  return set(real, real(handle, mode), handle,
             [&](HandleState& state) { state.math_mode = static_cast<int32_t>(mode); });
}

Status cublasSetSmCountTarget(Handle handle, int count) {
  const auto real = GEMMTUNE_REAL(cublasSetSmCountTarget);
  return set(real, real(handle, count), handle,
             [&](HandleState& state) { state.sm_count = count; });
}

Status cublasSetEmulationStrategy(Handle handle, vendor::blas::EmulationStrategy strategy) {
  const auto real = GEMMTUNE_REAL(cublasSetEmulationStrategy);
  return set(real, real(handle, strategy), handle,
             [](HandleState& state) { state.emulates = true; });
}

}  // extern "C"

}  // namespace gemmtune::cublas_preload
