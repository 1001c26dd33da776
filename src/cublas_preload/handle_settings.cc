#include "cublas_preload/handle_settings.h"

#include "cublas_preload/call_hash.h"
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

void change(HandleState& state, Setting setting, int64_t value) {
  switch (setting) {
    case Setting::stream:
      state.stream = reinterpret_cast<CUstream>(value);  // NOLINT(performance-no-int-to-ptr)
      state.workspace_bytes = Product::kOwnWorkspace;
      break;
    case Setting::workspace_bytes:
      state.workspace_bytes = value;
      break;
    case Setting::math_mode:
      state.math_mode = static_cast<int32_t>(value);
      break;
    case Setting::pointer_mode:
      state.pointer_mode = static_cast<vendor::blas::PointerMode>(value);
      break;
    case Setting::sm_count:
      state.sm_count = static_cast<int32_t>(value);
      break;
    case Setting::emulation:
      state.emulates = true;
      break;
  }
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

HandleKey key_of(Recorder& recorder, Handle handle, const void* function) {
  const HandleState state = settings_of(recorder, handle, function);
  const uint64_t hash =
      mixed(reinterpret_cast<uintptr_t>(handle), static_cast<uint64_t>(state.workspace_bytes),
            static_cast<uint64_t>(state.sm_count));
  return {mixed(hash, static_cast<uint64_t>(state.math_mode),
                static_cast<uint64_t>(state.pointer_mode)),
          state.pointer_mode == vendor::blas::PointerMode::host};
}

Status note_setting(Status status, const void* function, Handle handle, Setting setting,
                    int64_t value) {
  if (status != Status::success) return status;
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return status;
  const auto changed = [setting, value](HandleState& state) { change(state, setting, value); };
  if (recorder->handles.update(handle, changed)) return status;
  settings_of(*recorder, handle, function);
  recorder->handles.update(handle, changed, /*or_add=*/true);
  return status;
}

}  // namespace gemmtune::cublas_preload
