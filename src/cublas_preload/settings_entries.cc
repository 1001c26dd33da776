// What a cuBLAS handle is told about its products.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;
using vendor::blas::MathMode;
using vendor::blas::PointerMode;
using vendor::blas::Status;

// Makes a call that tells a handle `value`.
template <class Call>
Status tell(const Call& call, Handle handle, Setting setting, int64_t value) {
  return note_setting(call(), call.function(), handle, setting, value);
}

}  // namespace

extern "C" {

Status cublasCreate_v2(Handle* handle) {
  const Status status = GEMMTUNE_REAL(cublasCreate_v2).with(handle)();
  Recorder* const recorder = status == Status::success ? Recorder::get() : nullptr;
  if (recorder == nullptr) return status;
  HandleState state;
  state.known = true;
  recorder->handles.put(*handle, state);
  return status;
}

Status cublasDestroy_v2(Handle handle) {
  const auto call = GEMMTUNE_REAL(cublasDestroy_v2).with(handle);
  // Before another thread can be given the same address.
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
    recorder->handles.erase(handle);
  return call();
}

Status cublasSetStream_v2(Handle handle, CUstream stream) {
  return tell(GEMMTUNE_REAL(cublasSetStream_v2).with(handle, stream), handle, Setting::stream,
              static_cast<int64_t>(reinterpret_cast<intptr_t>(stream)));
}

Status cublasSetWorkspace_v2(Handle handle, void* workspace, size_t bytes) {
  return tell(GEMMTUNE_REAL(cublasSetWorkspace_v2).with(handle, workspace, bytes), handle,
              Setting::workspace_bytes, static_cast<int64_t>(bytes));
}

Status cublasSetPointerMode_v2(Handle handle, PointerMode mode) {
  return tell(GEMMTUNE_REAL(cublasSetPointerMode_v2).with(handle, mode), handle,
              Setting::pointer_mode, static_cast<int64_t>(mode));
}

Status cublasSetMathMode(Handle handle, MathMode mode) {
  return tell(GEMMTUNE_REAL(cublasSetMathMode).with(handle, mode), handle, Setting::math_mode,
              static_cast<int64_t>(mode));
}

Status cublasSetSmCountTarget(Handle handle, int count) {
  return tell(GEMMTUNE_REAL(cublasSetSmCountTarget).with(handle, count), handle, Setting::sm_count,
              count);
}

Status cublasSetEmulationStrategy(Handle handle, vendor::blas::EmulationStrategy strategy) {
  return tell(GEMMTUNE_REAL(cublasSetEmulationStrategy).with(handle, strategy), handle,
              Setting::emulation, static_cast<int64_t>(strategy));
}

}  // extern "C"

}  // namespace gemmtune::cublas_preload
