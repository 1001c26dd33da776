#pragma once

#include "cublas_preload/descriptors.h"
#include "cublas_preload/recorder.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// The settings of a handle as cuBLAS has them: that which `function` is of. HandleState::known is
// false where it does not say.
HandleState read_settings(vendor::blas::Handle handle, const void* function);

// The settings of a handle. What a recorder of a running process has not seen yet is read, once.
HandleState settings_of(Recorder& recorder, vendor::blas::Handle handle, const void* function);

}  // namespace gemmtune::cublas_preload
