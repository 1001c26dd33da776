#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "cublas_preload/entries.h"
#include "fake_calls.h"

// Functions that note what they were called with, for every signature.
namespace gemmtune::fake_cublas {

namespace lt = vendor::lt;

template <class Name, class Signature>
struct Fake;

template <class Name, class... Arguments>
struct Fake<Name, lt::Status(Arguments...)> {
  static lt::Status call(Arguments... arguments) {
    Calls& calls = *gemmtune_fake_cublas();
    if (calls.nested != nullptr && std::string_view(Name::kText) == "cublasGemmEx") calls.nested();
    const std::lock_guard lock(calls.mutex);
    ++calls.products;
    if (calls.keep) calls.calls.push_back({Name::kText, {bits_of(arguments)...}});
    const auto status = static_cast<lt::Status>(calls.status);
    if (status == lt::Status::success) make(calls, std::get<0>(std::tuple(arguments...)));
    if constexpr (sizeof...(Arguments) == 2) {
      if (status == lt::Status::success) note(calls, bits_of(arguments)...);
    }
    return status;
  }

 private:
  // What a handle was told.
  static void note(Calls& calls, uint64_t handle, uint64_t value) {
    const std::string name = Name::kText;
    if (!name.starts_with("cublasSet")) return;
    calls.settings[{handle, name}] = value;
    calls.told = true;
  }
  // A new handle, where the first argument says where to put it.
  template <class First>
  static void make(Calls& calls, First first) {
    if constexpr (std::is_same_v<First, vendor::blas::Handle*>)
      *first = reinterpret_cast<vendor::blas::Handle>(++calls.made << 8);
  }
};

}  // namespace gemmtune::fake_cublas

// Defines function `name`, with a name and a type but no parameters to spell: as Fake<...>::call,
// by way of a function that the loader asks which one it is.
#define GEMMTUNE_FAKE(name, signature)                                                         \
  namespace {                                                                                  \
  struct Name_##name {                                                                         \
    static constexpr const char* kText = #name;                                                \
  };                                                                                           \
  using Fake_##name = gemmtune::fake_cublas::Fake<Name_##name, signature>;                     \
  }                                                                                            \
  extern "C" {                                                                                 \
  __attribute__((no_sanitize("address", "thread", "undefined"))) std::add_pointer_t<signature> \
      resolve_##name() {                                                                       \
    return &Fake_##name::call;                                                                 \
  }                                                                                            \
  signature name __attribute__((ifunc("resolve_" #name)));                                     \
  }
