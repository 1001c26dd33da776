// What of a cuBLAS handle it cannot be asked for: its workspace, which a capture records.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;
using vendor::blas::Status;

// Out of line, so that where nothing is noted an entry point is a jump.
[[gnu::noinline, gnu::cold]] void note_own_workspace(Handle handle) {
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr)
    recorder->workspaces.reset(handle);
}

[[gnu::noinline, gnu::cold]] Status set_and_note(const Real<decltype(cublasSetWorkspace_v2)>& real,
                                                 Handle handle, void* workspace, size_t bytes) {
  const Status status = real.function()(handle, workspace, bytes);
  Recorder* const recorder = status == Status::success ? Recorder::get() : nullptr;
  if (recorder != nullptr) recorder->workspaces.set(handle, bytes);
  return status;
}

bool is_noted(RealFunction::Found real) {
  return Recorder::may_note_workspaces() && !real.for_cublas;
}

}  // namespace

extern "C" {

Status cublasDestroy_v2(Handle handle) {
  const auto real = GEMMTUNE_REAL(cublasDestroy_v2);
  if (real.function() == nullptr) return Status::not_supported;
  // Before another thread can be given the same address.
  if (is_noted(real.found())) note_own_workspace(handle);
  return real.function()(handle);
}

Status cublasSetStream_v2(Handle handle, CUstream stream) {
  const auto real = GEMMTUNE_REAL(cublasSetStream_v2);
  if (real.function() == nullptr) return Status::not_supported;
  if (is_noted(real.found())) note_own_workspace(handle);
  return real.function()(handle, stream);
}

Status cublasSetWorkspace_v2(Handle handle, void* workspace, size_t bytes) {
  const auto real = GEMMTUNE_REAL(cublasSetWorkspace_v2);
  if (real.function() == nullptr) return Status::not_supported;
  if (is_noted(real.found())) return set_and_note(real, handle, workspace, bytes);
  return real.function()(handle, workspace, bytes);
}

}  // extern "C"

}  // namespace gemmtune::cublas_preload
