#pragma once

#include "cublas_preload/asked.h"
#include "cublas_preload/handle_settings.h"
#include "cublas_preload/real_functions.h"
#include "cublas_preload/recorder.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// A function of cuBLAS to call, which fails where there is none.
template <class Signature>
class Real;

template <class... Arguments>
class Real<vendor::lt::Status(Arguments...)> {
 public:
  explicit Real(void* function)
      : function_(reinterpret_cast<vendor::lt::Status (*)(Arguments...)>(function)) {}

  vendor::lt::Status operator()(Arguments... arguments) const {
    return function_ != nullptr ? function_(arguments...) : vendor::lt::Status::not_supported;
  }
  auto* function() const { return function_; }
  const void* address() const { return reinterpret_cast<const void*>(function_); }

 private:
  vendor::lt::Status (*function_)(Arguments...);
};

// In the body of entry point `name`: the function behind it.
#define GEMMTUNE_REAL(name)                                \
  Real<decltype(name)>([](void* caller) {                  \
    static constinit RealFunction::OtherCallers others;    \
    static constinit RealFunction function(#name, others); \
    return function.find(caller);                          \
  }(__builtin_extract_return_addr(__builtin_return_address(0))))

// Serves a product on `handle` with the sizes and operands of `sizes`; `real` is the function of
// cuBLAS that was called, and `call` calls it.
template <class Function, class Call>
vendor::blas::Status serve_product(const Function& real, vendor::blas::Handle handle,
                                   const Product& sizes, const CallPointers& pointers,
                                   AlgorithmChoice choice, const Call& call) {
  Recorder* const recorder = Recorder::get();
  if (recorder == nullptr) return call();
  const HandleState state = settings_of(*recorder, handle, real.address());
  Asked asked = {
      sizes, pointers, state.stream, choice, nullptr, nullptr, state.known && !state.emulates};
  complete(asked.product, state, pointers);
  return recorder->serve(asked, call);
}

// What a call that describes something has changed, if it succeeded.
template <class Note>
vendor::lt::Status noted(vendor::lt::Status status, const Note& note) {
  if (status != vendor::lt::Status::success) return status;
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr) note(*recorder);
  return status;
}

}  // namespace gemmtune::cublas_preload
