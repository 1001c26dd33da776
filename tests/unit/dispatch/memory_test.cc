// What happens where the host has no memory left.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "library_fixture.h"

namespace {

// Threads that get no memory: the one that runs the tests, or all others.
enum class Poor { none, tests, others };
std::atomic<Poor> poor = Poor::none;
const std::thread::id tests_thread = std::this_thread::get_id();

bool is_poor() {
  const Poor who = poor;
  return who != Poor::none && (std::this_thread::get_id() == tests_thread) == (who == Poor::tests);
}

}  // namespace

void* operator new(size_t bytes) {
  void* const memory = is_poor() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace gemmtune::dispatch_test {
namespace {

TEST_CASE("prewarm without memory is a status, on whatever thread it runs out") {
  std::vector<Tuned> results;
  std::vector<gemmtune_problem> problems;
  for (int m = 8; m < 40; m += 8) {
    Tuned tuned;
    tuned.problem = make_problem({m, 16, 16});
    tuned.kernel = naive_kernel(tuned.problem);
    results.push_back(tuned);
    gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
    problem.m = m;
    problem.n = problem.k = 16;
    problems.push_back(problem);
  }
  const Tuning library(results);
  gemmtune_options options = library.options();
  options.threads = 4;
  const auto prewarm = [&](Poor who) {
    const Handle handle(library.Library::create(options));
    poor = who;
    const gemmtune_status status =
        gemmtune_prewarm(handle.get(), problems.data(), problems.size(), nullptr);
    poor = Poor::none;
    CHECK(gemmtune_prewarm(handle.get(), problems.data(), problems.size(), nullptr) ==
          GEMMTUNE_STATUS_SUCCESS);
    return status;
  };
  CHECK(prewarm(Poor::tests) == GEMMTUNE_STATUS_OUT_OF_MEMORY);
  // Unless this thread prepares all of them before the others begin.
  gemmtune_status status = GEMMTUNE_STATUS_SUCCESS;
  for (int round = 0; round < 200 && status == GEMMTUNE_STATUS_SUCCESS; ++round)
    status = prewarm(Poor::others);
  CHECK(status == GEMMTUNE_STATUS_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace gemmtune::dispatch_test
