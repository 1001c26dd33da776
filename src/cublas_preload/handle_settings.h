#pragma once

#include <cstdint>

#include "cublas_preload/descriptors.h"
#include "cublas_preload/recorder.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// The settings of a handle as cuBLAS has them: that which `function` is of. HandleState::known is
// false where it does not say.
HandleState read_settings(vendor::blas::Handle handle, const void* function);

// The settings of a handle. What a recorder of a running process has not seen yet is read, once.
[[gnu::hot]] HandleState settings_of(Recorder& recorder, vendor::blas::Handle handle,
                                     const void* function);

// A hash of a handle, and so the device, and of its settings.
struct HandleKey {
  uint64_t hash = 0;
  bool on_host = true;  // where alpha and beta are
};
[[gnu::hot]] HandleKey key_of(Recorder& recorder, vendor::blas::Handle handle,
                              const void* function);

// What a handle can be told.
enum class Setting { stream, workspace_bytes, math_mode, pointer_mode, sm_count, emulation };

// Notes that a call of `function` has told a handle something, if its status is success. Returns
// the status.
[[gnu::hot]] vendor::blas::Status note_setting(vendor::blas::Status status, const void* function,
                                               vendor::blas::Handle handle, Setting setting,
                                               int64_t value);

}  // namespace gemmtune::cublas_preload
