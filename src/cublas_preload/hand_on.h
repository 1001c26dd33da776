#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cublas_preload/asked.h"
#include "cublas_preload/call_hash.h"
#include "cublas_preload/code_lines.h"
#include "cublas_preload/handle_settings.h"
#include "cublas_preload/real_functions.h"
#include "cublas_preload/recorder.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// A call of a function of cuBLAS: the function and the arguments. It fails where there is no such
// function.
template <class... Arguments>
class BoundCall {
 public:
  explicit BoundCall(RealFunction::Found real, Arguments... arguments)
      : real_(real), arguments_(arguments...) {}

  vendor::blas::Status operator()() const {
    using Function = vendor::blas::Status (*)(Arguments...);
    return real_.function != nullptr
               ? std::apply(reinterpret_cast<Function>(real_.function), arguments_)
               : vendor::blas::Status::not_supported;
  }
  const void* function() const { return real_.function; }

 private:
  RealFunction::Found real_;
  std::tuple<Arguments...> arguments_;
};

// The function of cuBLAS behind an entry point.
template <class Signature>
class Real;

template <class... Arguments>
class Real<vendor::blas::Status(Arguments...)> {
 public:
  using Function = vendor::blas::Status (*)(Arguments...);

  explicit Real(RealFunction::Found found) : found_(found) {}

  BoundCall<Arguments...> with(Arguments... arguments) const {
    return BoundCall<Arguments...>(found_, arguments...);
  }
  RealFunction::Found found() const { return found_; }
  Function function() const { return reinterpret_cast<Function>(found_.function); }

 private:
  RealFunction::Found found_;
};

// In the body of entry point `name`: the function behind it.
#define GEMMTUNE_REAL(name)                                                        \
  Real<decltype(name)>([](void* caller) {                                          \
    static constinit RealFunction::OtherCallers others;                            \
    GEMMTUNE_STATE_OF_CALLS static constinit RealFunction function(#name, others); \
    return function.find(caller);                                                  \
  }(__builtin_extract_return_addr(__builtin_return_address(0))))

// A hash of a function and of those arguments that are numbers; pointers are passed over.
template <class... Arguments>
uint64_t hash_of_numbers(const void* function, Arguments... arguments) {
  constexpr size_t kNumbers = (static_cast<size_t>(!std::is_pointer_v<Arguments>) + ...);
  std::array<uint64_t, kNumbers> words = {};
  size_t number = 0;
  const auto keep = [&]<class Argument>(Argument argument) {
    if constexpr (!std::is_pointer_v<Argument>)
      words[number++] = static_cast<uint64_t>(static_cast<int64_t>(argument));
  };
  (keep(arguments), ...);
  return mixed_words<kNumbers>(reinterpret_cast<uintptr_t>(function), words.data());
}

// The hash of a call of cuBLAS: of its numbers, its handle and what that was told, the bits of all
// matrices' addresses, and beta, whose type is `scalars`; kNoKey of HandedOn where the handle is
// not understood. Out of line, so that nothing of an entry point is in memory but its arguments.
[[gnu::hot]] uint64_t key_of_blas_call(Recorder& recorder, const void* function, uint64_t numbers,
                                       vendor::blas::Handle handle, uintptr_t addresses,
                                       const void* beta, vendor::blas::ElementType scalars);

// Its code, and that by which a call is found and counted.
[[gnu::always_inline]] inline void fetch_code_of_blas_call() {
  constexpr size_t kLines = 7;          // of 400 bytes
  constexpr size_t kCountingLines = 4;  // of 150 bytes, from anywhere in a line on
  fetch_lines<kLines>(reinterpret_cast<const char*>(&key_of_blas_call));
  fetch_lines<kCountingLines>(reinterpret_cast<const char*>(&HandedOn::counts));
}

// Serves a call that is not known to be handed on. A function of its own, so that the way of those
// that are takes few lines of the processor's cache.
template <class Call>
vendor::blas::Status serve_product(const Call& call, uint64_t key, vendor::blas::Handle handle,
                                   const Product& product, const CallPointers& pointers,
                                   AlgorithmChoice choice) {
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return call();
  const HandleSettings* const settings = recorder->handles.find(call.function());
  HandleState state = settings == nullptr ? HandleState{} : settings->read(handle);
  if (Recorder::may_note_workspaces()) state.workspace_bytes = recorder->workspaces.of(handle);
  // Which part of the GPU a handle may use is not in the key.
  if (state.sm_count != 0) key = HandedOn::kNoKey;
  Asked asked = {
      product, pointers, state.stream, choice, nullptr, nullptr, state.known && !state.emulates};
  complete(asked.product, state, pointers);
  return recorder->serve(asked, call, key);
}

}  // namespace gemmtune::cublas_preload
