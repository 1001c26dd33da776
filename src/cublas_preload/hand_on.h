#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cublas_preload/asked.h"
#include "cublas_preload/call_hash.h"
#include "cublas_preload/handle_settings.h"
#include "cublas_preload/real_functions.h"
#include "cublas_preload/recorder.h"
#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

// A call of a function of cuBLAS: the function and the arguments. It fails where there is no such
// function. Each argument has a word; numbers stand side by side, so that they can be hashed.
template <class... Arguments>
class BoundCall {
  using Function = vendor::blas::Status (*)(Arguments...);

 public:
  explicit BoundCall(void* function, Arguments... arguments)
      : function_(reinterpret_cast<Function>(function)) {
    size_t number = 0;
    size_t pointer = 0;
    const auto keep = [&]<class Argument>(Argument argument) {
      if constexpr (std::is_pointer_v<Argument>) {
        pointers_[pointer++] =
            const_cast<std::remove_cv_t<std::remove_pointer_t<Argument>>*>(argument);
      } else {
        numbers_[number++] = static_cast<int64_t>(argument);
      }
    };
    (keep(arguments), ...);
  }

  vendor::blas::Status operator()() const { return call(std::index_sequence_for<Arguments...>()); }
  const void* function() const { return reinterpret_cast<const void*>(function_); }
  // Of the function and the numbers.
  uint64_t hash() const {
    return mixed_words<kNumbers>(reinterpret_cast<uintptr_t>(function_), numbers_.data());
  }

 private:
  static constexpr size_t kAll = sizeof...(Arguments);
  static constexpr std::array<bool, kAll> kIsPointer = {std::is_pointer_v<Arguments>...};
  static constexpr auto kNumbers =
      static_cast<size_t>(std::count(kIsPointer.begin(), kIsPointer.end(), false));

  // The place of an argument among those of its kind.
  static constexpr size_t place_of(size_t i) {
    return static_cast<size_t>(
        std::count(kIsPointer.begin(), kIsPointer.begin() + i, kIsPointer[i]));
  }
  template <size_t kIndex>
  auto argument() const {
    using Argument = std::tuple_element_t<kIndex, std::tuple<Arguments...>>;
    if constexpr (std::is_pointer_v<Argument>)
      return static_cast<Argument>(pointers_[place_of(kIndex)]);
    else
      return static_cast<Argument>(numbers_[place_of(kIndex)]);
  }
  template <size_t... kIndices>
  vendor::blas::Status call(std::index_sequence<kIndices...>) const {
    return function_ != nullptr ? function_(argument<kIndices>()...)
                                : vendor::blas::Status::not_supported;
  }

  Function function_;
  std::array<int64_t, kNumbers> numbers_;
  std::array<void*, kAll - kNumbers> pointers_;
};

// The function of cuBLAS behind an entry point.
template <class Signature>
class Real;

template <class... Arguments>
class Real<vendor::blas::Status(Arguments...)> {
 public:
  explicit Real(void* function) : function_(function) {}

  BoundCall<Arguments...> with(Arguments... arguments) const {
    return BoundCall<Arguments...>(function_, arguments...);
  }
  auto* function() const {
    return reinterpret_cast<vendor::blas::Status (*)(Arguments...)>(function_);
  }

 private:
  void* function_;
};

// In the body of entry point `name`: the function behind it.
#define GEMMTUNE_REAL(name)                                \
  Real<decltype(name)>([](void* caller) {                  \
    static constinit RealFunction::OtherCallers others;    \
    static constinit RealFunction function(#name, others); \
    return function.find(caller);                          \
  }(__builtin_extract_return_addr(__builtin_return_address(0))))

// What became of a call that is handed on if it is known that it has to be.
struct Served {
  Recorder* recorder = nullptr;  // that is to serve it, with this key; null: it was handed on
  uint64_t key = HandedOn::kNoKey;
  vendor::blas::Status status = vendor::blas::Status::success;
};

// `addresses`: the bits of all three matrices' addresses; `scalars`: the type of beta.
template <class Call>
[[gnu::hot]] Served serve_known(const Call& call, vendor::blas::Handle handle, uintptr_t addresses,
                                const void* beta, vendor::blas::ElementType scalars) {
  Served served;
  ProductRecord* record = nullptr;
  if (Recorder* const recorder = Recorder::get(); recorder != nullptr) {
    const HandleKey handle_key = key_of(*recorder, handle, call.function());
    served.key = mixed(
        call.hash(), handle_key.hash,
        operand_bits(addresses, handle_key.on_host ? beta_at(beta, scalars) : Beta::on_device));
    record = recorder->handed_on(served.key);
    if (record == nullptr) {
      served.recorder = recorder;
      return served;
    }
  }
  served.status = Recorder::hand_on(record, call);
  return served;
}

// Serves a call that was not handed on. A function of its own, so that the way of those that are
// takes few lines of the processor's cache; to keep the handle's settings for it would cost them
// more than it costs to read them again here.
template <class Call>
[[gnu::noinline, gnu::cold]] vendor::blas::Status serve_product(
    const Served& served, const Call& call, vendor::blas::Handle handle, const Product& product,
    const CallPointers& pointers, AlgorithmChoice choice = AlgorithmChoice::cublas) {
  const HandleState state = settings_of(*served.recorder, handle, call.function());
  Asked asked = {
      product, pointers, state.stream, choice, nullptr, nullptr, state.known && !state.emulates};
  complete(asked.product, state, pointers);
  return served.recorder->serve(asked, call, served.key);
}

}  // namespace gemmtune::cublas_preload
