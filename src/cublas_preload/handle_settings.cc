#include "cublas_preload/handle_settings.h"

#include "cublas_preload/real_functions.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;
using vendor::blas::Status;

using vendor::blas::Questions;

// Asks the function `name` beside `function` for a value; false where there is none or it fails.
template <class Question, class Value>
bool ask(const void* function, const char* name, Handle handle, Value& value) {
  auto* const get = reinterpret_cast<Question*>(look_up_beside(function, name));
  return get != nullptr && get(handle, &value) == Status::success;
}

// Whether f32 or f64 is emulated by other types. Versions without the function do not emulate.
bool reads_emulation(const void* function, Handle handle, bool& emulates) {
  constexpr char kName[] = "cublasGetEmulationStrategy";
  emulates = false;
  if (look_up_beside(function, kName) == nullptr) return true;
  auto strategy = vendor::blas::EmulationStrategy::by_default;
  if (!ask<Questions::get_emulation>(function, kName, handle, strategy)) return false;
  emulates = strategy != vendor::blas::EmulationStrategy::by_default;
  return true;
}

}  // namespace

HandleState read_settings(Handle handle, const void* function) {
  HandleState state;
  auto mode = vendor::blas::MathMode::standard;
  state.known =
      ask<Questions::get_stream>(function, "cublasGetStream_v2", handle, state.stream) &&
      ask<Questions::get_pointer_mode>(function, "cublasGetPointerMode_v2", handle,
                                       state.pointer_mode) &&
      ask<Questions::get_math_mode>(function, "cublasGetMathMode", handle, mode) &&
      ask<Questions::get_sm_count>(function, "cublasGetSmCountTarget", handle, state.sm_count) &&
      reads_emulation(function, handle, state.emulates);
  state.math_mode = static_cast<int32_t>(mode);
  return state;
}

HandleState settings_of(Recorder& recorder, Handle handle, const void* function) {
  if (const auto known = recorder.handles.get(handle)) return *known;
  if (!recorder.in_running_process() || handle == nullptr || function == nullptr) return {};
  const HandleState read = read_settings(handle, function);
  recorder.handles.put(handle, read);
  return read;
}

}  // namespace gemmtune::cublas_preload
