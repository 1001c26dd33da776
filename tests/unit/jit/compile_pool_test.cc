#include "jit/compile_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <semaphore>
#include <set>
#include <stdexcept>

namespace gemmtune::jit {
namespace {

CompileRequest request(int number) {
  CompileRequest out;
  out.source.name = "k";
  out.source.text = std::to_string(number);
  out.arch = {8, 0, false};
  return out;
}

// Says back what it was given.
CompileResult echo(const CompileRequest& r) {
  CompiledKernel kernel;
  kernel.name = r.source.text;
  return kernel;
}

TEST_CASE("every request is answered once, with its own result") {
  for (const int threads : {0, 1, 2, 8}) {
    CompilePool pool(echo, threads);
    constexpr std::size_t kCount = 500;
    for (std::size_t i = 0; i < kCount; ++i) pool.submit(i, request(static_cast<int>(i)));
    std::set<std::size_t> seen;
    while (auto outcome = pool.next()) {
      REQUIRE(outcome->result);
      CHECK(outcome->result->name == std::to_string(outcome->index));
      CHECK(seen.insert(outcome->index).second);
    }
    CHECK(seen.size() == kCount);
    CHECK(pool.pending() == 0);
  }
}

TEST_CASE("results come in the order of completion") {
  std::counting_semaphore<> slow(0);
  CompilePool pool(
      [&](const CompileRequest& r) {
        if (r.source.text == "0") slow.acquire();
        return echo(r);
      },
      2);
  pool.submit(0, request(0));
  pool.submit(1, request(1));
  CHECK(pool.next()->index == 1);
  CHECK_FALSE(pool.next_for(std::chrono::milliseconds(5)));
  CHECK(pool.pending() == 1);
  slow.release();
  CHECK(pool.next()->index == 0);
  CHECK_FALSE(pool.next());
}

TEST_CASE("the same content compiles once while it is in flight") {
  std::atomic<int> compiled = 0;
  std::counting_semaphore<> gate(0);
  CompilePool pool(
      [&](const CompileRequest& r) {
        ++compiled;
        gate.acquire();
        return echo(r);
      },
      4);
  for (std::size_t i = 0; i < 6; ++i) pool.submit(i, request(7));
  CompileRequest other = request(7);
  other.options.emplace_back("-lineinfo");
  pool.submit(6, other);
  CompileRequest arch = request(7);
  arch.arch = {9, 0, false};
  pool.submit(7, arch);
  gate.release(3);
  std::set<std::size_t> seen;
  while (auto outcome = pool.next()) seen.insert(outcome->index);
  CHECK(seen.size() == 8);
  CHECK(compiled == 3);
}

TEST_CASE("failures and exceptions are results") {
  CompilePool pool(
      [](const CompileRequest& r) -> CompileResult {
        if (r.source.text == "0") throw std::runtime_error("boom");
        if (r.source.text == "1") throw 3;  // NOLINT(*): what is no std::exception
        return tl::unexpected(CompileFailure{CompilePhase::assembler, "refused", "log"});
      },
      2);
  for (int i = 0; i < 3; ++i) pool.submit(static_cast<std::size_t>(i), request(i));
  int count = 0;
  while (auto outcome = pool.next()) {
    ++count;
    REQUIRE_FALSE(outcome->result);
    if (outcome->index == 0) CHECK(outcome->result.error().first_error == "boom");
    if (outcome->index == 2) CHECK(outcome->result.error().phase == CompilePhase::assembler);
  }
  CHECK(count == 3);
}

TEST_CASE("cancel drops what has not started and finishes what has") {
  std::counting_semaphore<> started(0);
  std::counting_semaphore<> gate(0);
  CompilePool pool(
      [&](const CompileRequest& r) {
        started.release();
        gate.acquire();
        return echo(r);
      },
      2);
  for (int i = 0; i < 50; ++i) pool.submit(static_cast<std::size_t>(i), request(i));
  pool.submit(50, request(49));  // a second taker of a job that will be dropped
  started.acquire();
  started.acquire();
  CHECK(pool.cancel() == 49);
  CHECK(pool.pending() == 2);
  pool.submit(99, request(99));
  CHECK(pool.pending() == 2);
  gate.release(2);
  std::set<std::size_t> seen;
  while (auto outcome = pool.next()) seen.insert(outcome->index);
  CHECK(seen == std::set<std::size_t>{0, 1});
  CHECK(pool.cancel() == 0);
}

TEST_CASE("cancel wakes a thread that waits") {
  CompilePool pool(echo, 1);
  std::counting_semaphore<> gate(0);
  CompilePool blocked(
      [&](const CompileRequest& r) {
        gate.acquire();
        return echo(r);
      },
      1);
  blocked.submit(0, request(0));
  blocked.submit(1, request(1));
  std::atomic<int> got = 0;
  std::thread waiter([&] {
    while (blocked.next()) ++got;
  });
  blocked.cancel();
  gate.release(2);
  waiter.join();
  CHECK(got <= 1);
  CHECK(blocked.pending() == 0);
}

TEST_CASE("a pool may be destroyed with work left") {
  std::atomic<int> compiled = 0;
  for (int round = 0; round < 50; ++round) {
    CompilePool pool(
        [&](const CompileRequest& r) {
          ++compiled;
          return echo(r);
        },
        3);
    for (int i = 0; i < 20; ++i) pool.submit(static_cast<std::size_t>(i), request(i));
    if (round % 2 == 0) pool.next();
  }
  CHECK(compiled <= 50 * 20);
}

TEST_CASE("submitters, takers and a canceller on many threads at once") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const bool cancelling = random() % 2 == 0;
    std::atomic<std::size_t> taken = 0;
    std::atomic<std::size_t> dropped = 0;
    CompilePool pool(echo, 4);
    constexpr std::size_t kEach = 200;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < kEach; ++i) pool.submit(t * kEach + i, request(int(i % 17)));
      });
    }
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          if (pool.next_for(std::chrono::milliseconds(1))) ++taken;
        }
      });
    }
    if (cancelling) threads.emplace_back([&] { dropped = pool.cancel(); });
    for (auto& thread : threads) thread.join();
    while (pool.next()) ++taken;
    CHECK(pool.pending() == 0);
    if (!cancelling) CHECK(taken == 3 * kEach);
    CHECK(taken + dropped <= 3 * kEach);
  }
}

}  // namespace
}  // namespace gemmtune::jit
