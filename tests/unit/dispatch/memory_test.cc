// What happens where the host has no memory left, or no threads.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
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

std::atomic<bool> no_threads = false;

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

// In front of libc's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  if (no_threads) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, run, argument);
}

namespace gemmtune::dispatch_test {
namespace {

struct Four {
  std::vector<gemmtune_problem> problems;
  std::unique_ptr<Tuning> library;
  gemmtune_options options = GEMMTUNE_OPTIONS_INIT;

  Four() {
    std::vector<Tuned> results;
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
    library = std::make_unique<Tuning>(results);
    options = library->options();
    options.threads = 4;
  }
};

TEST_CASE_FIXTURE(Four, "prewarm without further threads prepares all on the one that there is") {
  const Handle handle(library->Library::create(options));
  std::vector<gemmtune_status> each(problems.size(), GEMMTUNE_STATUS_INTERNAL);
  no_threads = true;
  const gemmtune_status status =
      gemmtune_prewarm(handle.get(), problems.data(), problems.size(), each.data());
  no_threads = false;
  CHECK(status == GEMMTUNE_STATUS_SUCCESS);
  CHECK(each == std::vector<gemmtune_status>(problems.size(), GEMMTUNE_STATUS_SUCCESS));
}

TEST_CASE_FIXTURE(Four, "prewarm without memory is a status, on whatever thread it runs out") {
  const auto prewarm = [&](Poor who) {
    const Handle handle(library->Library::create(options));
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
