#pragma once

#include <optional>

#include "cublas_preload/descriptors.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// Asks a cuBLAS what its handles were told (docs/decisions/0017-handles-are-asked.md).
class HandleSettings {
 public:
  // Of the cuBLAS that has `function`. Nothing where it has not all functions that are needed.
  static std::optional<HandleSettings> of_library(const void* function);

  // HandleState::known is false where cuBLAS does not say. All but the workspace.
  HandleState read(vendor::blas::Handle handle) const;

  // What decides which problem a product is.
  struct Modes {
    vendor::blas::PointerMode pointer = vendor::blas::PointerMode::host;
    vendor::blas::MathMode math = vendor::blas::MathMode::standard;
  };
  // False where cuBLAS does not say.
  bool read(vendor::blas::Handle handle, Modes& modes) const {
    return get_pointer_mode_(handle, &modes.pointer) == vendor::blas::Status::success &&
           get_math_mode_(handle, &modes.math) == vendor::blas::Status::success;
  }

 private:
  using Questions = vendor::blas::Questions;

  Questions::get_pointer_mode* get_pointer_mode_ = nullptr;
  Questions::get_math_mode* get_math_mode_ = nullptr;
  Questions::get_stream* get_stream_ = nullptr;
  Questions::get_sm_count* get_sm_count_ = nullptr;
  Questions::get_emulation* get_emulation_ = nullptr;  // null in versions that do not emulate
};

}  // namespace gemmtune::cublas_preload
