#include "cublas_preload/known_libraries.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../rounds.h"

namespace gemmtune::cublas_preload {
namespace {

const void* function(size_t i) {
  return reinterpret_cast<const void*>((i + 1) * 64);  // NOLINT(performance-no-int-to-ptr)
}

std::atomic<int> asked;

// The function's number; nothing of every fifth.
std::optional<size_t> number_of(const void* of) {
  ++asked;
  const size_t number = reinterpret_cast<uintptr_t>(of) / 64;
  if (number % 7 == 0) throw std::runtime_error("a test's");
  return number % 5 == 0 ? std::nullopt : std::optional(number);
}

TEST_CASE("what is known of a function is found out once, whatever it is") {
  KnownLibraries<size_t> libraries(number_of);
  asked = 0;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 6; ++i) {
      const size_t* const known = libraries.find(function(i));
      if ((i + 1) % 5 == 0) {
        CHECK(known == nullptr);
      } else {
        REQUIRE(known != nullptr);
        CHECK(*known == i + 1);
      }
    }
  }
  CHECK(asked == 6);
}

TEST_CASE("after forgetting it is found out anew, and what was found stays valid") {
  KnownLibraries<size_t> libraries(number_of);
  const size_t* const before = libraries.find(function(0));
  libraries.forget();
  const size_t* const after = libraries.find(function(0));
  REQUIRE((before != nullptr && after != nullptr));
  CHECK(before != after);
  CHECK(*before == *after);
}

TEST_CASE("where finding out fails, nothing is known") {
  KnownLibraries<size_t> libraries(number_of);
  CHECK(libraries.find(function(6)) == nullptr);
}

TEST_CASE("there are functions without room, and never a wrong answer") {
  KnownLibraries<size_t> libraries(number_of);
  for (size_t i = 0; i < 1000; ++i) {
    const size_t* const known = libraries.find(function(i));
    if (known != nullptr) REQUIRE(*known == i + 1);
  }
}

TEST_CASE("threads that ask for the first time get one answer") {
  const auto libraries = std::make_unique<KnownLibraries<size_t>>(number_of);
  std::vector<const size_t*> found(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] { found[t] = libraries->find(function(2)); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set<const size_t*>(found.begin(), found.end()).size() == 1);
  CHECK(*found[0] == 3);
}

TEST_CASE("threads get their own function's answer while one forgets") {
  const auto libraries = std::make_unique<KnownLibraries<size_t>>(number_of);
  std::atomic<bool> ended = false;
  std::atomic<size_t> wrong = 0;
  const auto check = [&](size_t i) {
    const size_t* const known = libraries->find(function(i % 3));
    if (known == nullptr || *known != i % 3 + 1) ++wrong;
  };
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; !ended; ++i) check(i);
    });
  }
  for (int round = 0; round < rounds(20000); ++round) {
    libraries->forget();
    for (size_t i = 0; i < 3; ++i) check(i);
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("what was found out before forgetting is not kept") {
  static KnownLibraries<size_t>* forgetting = nullptr;
  static size_t answers = 0;
  KnownLibraries<size_t> libraries([](const void*) -> std::optional<size_t> {
    // The library goes while it is looked at.
    if (answers == 0) forgetting->forget();
    return ++answers;
  });
  forgetting = &libraries;
  CHECK(*libraries.find(function(0)) == 1);
  CHECK(*libraries.find(function(0)) == 2);
  CHECK(*libraries.find(function(0)) == 2);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
