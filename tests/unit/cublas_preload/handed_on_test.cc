#include "cublas_preload/handed_on.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../rounds.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr size_t kRecords = 8;

// As a process's file has it.
struct Memory {
  std::array<HandedOnLine, kHandedOnLines> lines;
  std::array<ProductRecord, kRecords> records;

  bool counts(uint64_t key) { return HandedOn::counts(lines.data(), key); }
  // Of a product, wherever they were counted.
  uint64_t calls(size_t number) const {
    std::array<ProductRecord, kRecords> all = records;
    add_handed_on(lines, all);
    return all.at(number).calls;
  }
};

TEST_CASE("a call is handed on by its key and counted, and one without a key never is") {
  const auto memory = std::make_unique<Memory>();
  CHECK(records_behind(memory->lines.data()) == memory->records.data());
  HandedOn calls(memory->lines.data());
  CHECK_FALSE(memory->counts(7));
  calls.note(7, 0);
  calls.note(7 + 1024, 5);  // beside it
  CHECK(memory->counts(7));
  CHECK(memory->counts(7 + 1024));
  CHECK(memory->counts(7 + 1024));
  CHECK_FALSE(memory->counts(7 + 2048));
  calls.note(HandedOn::kNoKey, 0);
  CHECK_FALSE(memory->counts(HandedOn::kNoKey));
  CHECK(memory->calls(0) == 1);
  CHECK(memory->calls(5) == 2);
}

TEST_CASE("of many calls with one place the last ones stay, and none is lost from the count") {
  const auto memory = std::make_unique<Memory>();
  HandedOn calls(memory->lines.data());
  for (uint64_t i = 1; i <= 10; ++i) {
    calls.note(i * 1024, i % 2);
    calls.note(i * 1024, i % 2);  // takes no further place
    for (uint64_t j = 0; j < i; ++j) CHECK(memory->counts(i * 1024));
  }
  for (uint64_t i = 1; i <= 10; ++i) CHECK(memory->counts(i * 1024) == (i > 7));
  CHECK(memory->calls(0) == 2 + 4 + 6 + 8 + 10 + 2);
  CHECK(memory->calls(1) == 1 + 3 + 5 + 7 + 9 + 1);
}

TEST_CASE("threads count for their call while others take its place") {
  const auto memory = std::make_unique<Memory>();
  HandedOn calls(memory->lines.data());
  std::array<std::atomic<uint64_t>, kRecords> counted = {};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < static_cast<uint64_t>(rounds(20000)); ++i) {
        const uint64_t number = (i + t) % kRecords;
        const uint64_t key = (number + 1) * 1024;
        calls.note(key, number);
        for (int again = 0; again < 3; ++again) {
          if (memory->counts(key)) ++counted.at(number);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t number = 0; number < kRecords; ++number)
    CHECK(memory->calls(number) == counted.at(number));
}

// 2^32 calls of one would take hours.
TEST_CASE("a place's 32 bits do not run over") {
  const auto memory = std::make_unique<Memory>();
  HandedOn calls(memory->lines.data());
  calls.note(7, 3);
  HandedOnPlace& place = memory->lines.at(7).places.front();
  place.counted += HandedOn::kMostCalls - 1;
  for (int i = 0; i < 5; ++i) CHECK(memory->counts(7));
  CHECK(memory->records.at(3).calls == HandedOn::kMostCalls);
  CHECK(HandedOnPlace::calls_in(place.counted) == 4);
  CHECK(memory->calls(3) == HandedOn::kMostCalls + 4);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
