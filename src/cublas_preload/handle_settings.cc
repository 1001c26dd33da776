#include "cublas_preload/handle_settings.h"

#include <type_traits>

#include "cublas_preload/real_functions.h"

namespace gemmtune::cublas_preload {

using vendor::blas::Handle;
using vendor::blas::Status;

std::optional<HandleSettings> HandleSettings::of_library(const void* function) {
  const auto look_up = [function](auto*& to, const char* name) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(look_up_beside(function, name));
    return to != nullptr;
  };
  HandleSettings settings;
  look_up(settings.get_emulation_, "cublasGetEmulationStrategy");
  if (!look_up(settings.get_pointer_mode_, "cublasGetPointerMode_v2") ||
      !look_up(settings.get_math_mode_, "cublasGetMathMode") ||
      !look_up(settings.get_stream_, "cublasGetStream_v2") ||
      !look_up(settings.get_sm_count_, "cublasGetSmCountTarget"))
    return std::nullopt;
  return settings;
}

HandleState HandleSettings::read(Handle handle) const {
  HandleState state;
  Modes modes;
  auto strategy = vendor::blas::EmulationStrategy::by_default;
  state.known = handle != nullptr && read(handle, modes) &&
                get_stream_(handle, &state.stream) == Status::success &&
                get_sm_count_(handle, &state.sm_count) == Status::success &&
                (get_emulation_ == nullptr || get_emulation_(handle, &strategy) == Status::success);
  state.pointer_mode = modes.pointer;
  state.math_mode = static_cast<int32_t>(modes.math);
  state.emulates = strategy != vendor::blas::EmulationStrategy::by_default;
  return state;
}

}  // namespace gemmtune::cublas_preload
