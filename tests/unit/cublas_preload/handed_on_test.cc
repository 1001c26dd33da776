#include "cublas_preload/handed_on.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../rounds.h"

namespace gemmtune::cublas_preload {
namespace {

TEST_CASE("a call is handed on by its key, and one without a key never is") {
  const auto calls = std::make_unique<HandedOn>();
  ProductRecord first;
  ProductRecord second;
  CHECK(calls->find(7) == nullptr);
  calls->note(7, first);
  calls->note(7 + 1024, second);  // beside it
  CHECK(calls->find(7) == &first);
  CHECK(calls->find(7 + 1024) == &second);
  CHECK(calls->find(7 + 2048) == nullptr);
  calls->note(HandedOn::kNoKey, first);
  CHECK(calls->find(HandedOn::kNoKey) == nullptr);
}

TEST_CASE("of many calls with one place the last ones stay") {
  const auto calls = std::make_unique<HandedOn>();
  ProductRecord record;
  for (uint64_t i = 1; i <= 10; ++i) {
    calls->note(i * 1024, record);
    calls->note(i * 1024, record);  // takes no further place
  }
  for (uint64_t i = 1; i <= 10; ++i) CHECK((calls->find(i * 1024) != nullptr) == (i > 7));
}

TEST_CASE("what threads find is of their call while others take its place") {
  const auto calls = std::make_unique<HandedOn>();
  std::vector<ProductRecord> records(8);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < static_cast<uint64_t>(rounds(20000)); ++i) {
        const uint64_t number = (i + t) % records.size();
        const uint64_t key = (number + 1) * 1024;
        calls->note(key, records[number]);
        const ProductRecord* const found = calls->find(key);
        if (found != nullptr && found != &records[number]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a key that comes back to its place is not taken for one that stayed there") {
  const auto calls = std::make_unique<HandedOn>();
  constexpr uint64_t kKeys = 6;  // twice as many as there are places: each comes back to its own
  std::vector<ProductRecord> records(kKeys);
  const auto note_all = [&] {
    for (uint64_t i = 0; i < kKeys; ++i) calls->note((i + 1) * 1024, records[i]);
  };
  note_all();
  constexpr uint64_t kLast = kKeys * 1024;
  const HandedOn::Seen seen = calls->look(kLast);
  CHECK(seen.record == &records[kKeys - 1]);
  CHECK(calls->still_holds(kLast, seen));
  calls->note(7, records[0]);  // in another line
  CHECK(calls->still_holds(kLast, seen));
  note_all();
  CHECK(calls->find(kLast) == seen.record);
  CHECK_FALSE(calls->still_holds(kLast, seen));
}

}  // namespace
}  // namespace gemmtune::cublas_preload
