#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "vendor/cublas_api.h"

// What the fake cuBLAS and cuBLASLt were called with.
namespace gemmtune::fake_cublas {

struct Call {
  std::string name;
  std::vector<uint64_t> arguments;  // their bits

  bool operator==(const Call&) const = default;
};

// The state[0] of the algorithm that the heuristic names first for everything; the others are 0.
inline constexpr uint64_t kFirstChoice = 77;

// The test's side of both libraries.
struct Calls {
  std::mutex mutex;
  bool keep = false;           // calls, in `calls`
  void (*nested)() = nullptr;  // what cublasGemmEx calls: gemmtune_fake_nested or nothing
  int32_t status = 0;          // what every function returns
  uint64_t products = 0;       // calls that reached the libraries
  uint64_t made = 0;           // handles
  std::vector<Call> calls;
  // What handles were told, by the handle's bits and the function that told it.
  std::map<std::pair<uint64_t, std::string>, uint64_t> settings;
  std::atomic<bool> told = false;  // whether there are any
  uint64_t questions = 0;          // that were asked of the heuristic
};

template <class Value>
uint64_t bits_of(Value value) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

}  // namespace gemmtune::fake_cublas

extern "C" {
gemmtune::fake_cublas::Calls* gemmtune_fake_cublas();
// Makes a product by cuBLASLt as cuBLAS does: by the function that any caller of it would get.
void gemmtune_fake_nested();
// Both libraries have one: which that is, 1 (cuBLAS) or 2 (cuBLASLt).
int gemmtune_fake_place();
// Of the gemmtune_fake_place that dlsym finds behind cuBLAS.
int gemmtune_fake_next_place();
}
