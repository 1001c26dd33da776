#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cublas_preload/entries.h"
#include "fake_calls.h"

// Calls of any entry point with any arguments.
namespace gemmtune::cublas_preload {

#define GEMMTUNE_COUNT_ENTRY(name, signature) +1
inline constexpr int kEntries = 0 GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_COUNT_ENTRY)
    GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_COUNT_ENTRY) GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_COUNT_ENTRY);
#undef GEMMTUNE_COUNT_ENTRY

// What pointers point to; larger than what any call reads or writes there.
alignas(256) inline std::array<std::byte, 4096> memory;

class RandomArguments {
 public:
  template <class Value>
  Value make() {
    if constexpr (std::is_pointer_v<Value>) {
      using Target = std::remove_cv_t<std::remove_pointer_t<Value>>;
      // Handles and streams are only ever compared; these are looked into.
      constexpr bool kIsDescriptor =
          std::is_same_v<Target, lt::LayoutState> || std::is_same_v<Target, lt::OperationState>;
      constexpr bool kIsMemory = !std::is_class_v<Target> || kIsDescriptor ||
                                 std::is_same_v<Target, vendor::blas::Half> ||
                                 std::is_same_v<Target, lt::Algorithm>;
      if constexpr (kIsDescriptor) {
        if (number() % 8 == 0) return nullptr;
      }
      if constexpr (!kIsMemory) {
        return reinterpret_cast<Value>(uintptr_t{number() % 8} << 8);
      } else {
        return reinterpret_cast<Value>(memory.data() + number() % 256 * 8);
      }
    } else if constexpr (std::is_enum_v<Value>) {
      return static_cast<Value>(number() % 90);
    } else if constexpr (std::is_same_v<Value, size_t>) {
      return number() % 33;  // bytes of what a pointer points to
    } else {
      // Any number, more often a small one.
      return static_cast<Value>(number() % 4 == 0 ? engine_() : number() % 5000);
    }
  }

 private:
  uint64_t number() { return engine_() >> 20; }
  std::mt19937_64 engine_{7};
};

template <class Signature>
struct Caller;

template <class... Arguments>
struct Caller<lt::Status(Arguments...)> {
  // Calls with random arguments; the fake must have been called once, with the same ones.
  static void check(lt::Status (*function)(Arguments...), const char* name,
                    RandomArguments& random) {
    const std::tuple<Arguments...> arguments{random.make<Arguments>()...};
    std::vector<uint64_t> bits;
    std::apply([&](auto... each) { (bits.push_back(fake_cublas::bits_of(each)), ...); }, arguments);
    (*gemmtune_fake_cublas()).calls.clear();
    const lt::Status status = std::apply(function, arguments);
    REQUIRE(static_cast<int32_t>(status) == (*gemmtune_fake_cublas()).status);
    REQUIRE((*gemmtune_fake_cublas()).calls.size() == 1);
    REQUIRE((*gemmtune_fake_cublas()).calls.front() == fake_cublas::Call{name, bits});
  }
};

}  // namespace gemmtune::cublas_preload
