// Many threads on one handle, and on several: for the thread sanitizer as much as for the results.
#include <pthread.h>

#include <atomic>
#include <latch>
#include <thread>

#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

constexpr int kThreads = 16;
constexpr int kRounds = 60;  // a thread

// Random problems: tuned ones that a kernel or the vendor won, and unknown ones.
struct Mixed : Library {
  explicit Mixed(int count) {
    std::mt19937 random(1);
    const auto layouts = vendor_test::all_layouts();
    std::vector<Tuned> tuned;
    std::vector<codegen::KernelSpec> kernels;
    for (int i = 0; i < count; ++i) {
      Problem problem = vendor_test::random_problem(layouts[random() % 8], random);
      if (i % 2 == 0) {
        const bool row_major = problem.layout.c == Order::row_major;
        problem.epilogue = {row_major ? kBiasPerColumn : kBiasPerRow, kRelu};
      }
      problems.push_back(problem);
      if (i % 3 == 0) continue;  // unknown
      const double vendor_us = i % 3 == 1 ? 20 : 5;
      tuned.push_back(
          {problem, naive_kernel(problem), 10, vendor_config(1), vendor_us, fake_device().uuid});
      kernels.push_back(*tuned.back().kernel);
      define_kernel(fake, kernels.back());
    }
    database = folder.file("tuned.db");
    cache = folder.file("cache");
    write_database(database, tuned);
    write_cache(cache, kernels);
  }

  Handle create() const {
    gemmtune_options options = Library::options();
    options.database = database.c_str();
    options.cache_dir = cache.c_str();
    return Handle(Library::create(options));
  }

  std::vector<Problem> problems;
  std::string database;
  std::string cache;
};

// doctest's assertions are thread-safe, its REQUIRE is not.
void work(gemmtune_handle handle, const Mixed& library, unsigned seed, std::atomic<int>& wrong) {
  std::mt19937 random(seed);
  for (int round = 0; round < kRounds; ++round) {
    const Problem& problem = library.problems[random() % library.problems.size()];
    RunOptions options;
    options.device_scalars = random() % 4 == 0;
    options.alpha = static_cast<float>(random() % 5);
    options.beta = static_cast<float>(random() % 3);
    if (run(handle, problem, random, options) != GEMMTUNE_STATUS_SUCCESS) ++wrong;
    if (round % 10 == 3) {
      const gemmtune_problem c = to_c(problem);
      char text[256];
      if (gemmtune_explain(handle, &c, GEMMTUNE_JSON, text, sizeof text, nullptr) !=
          GEMMTUNE_STATUS_SUCCESS) {
        ++wrong;
      }
    }
    if (round % 10 == 7) {  // failures are each thread's own
      gemmtune_problem bad = to_c(problem);
      bad.m = -static_cast<int64_t>(seed);
      size_t bytes = 0;
      if (gemmtune_workspace_bytes(handle, &bad, &bytes) != GEMMTUNE_STATUS_INVALID_ARGUMENT ||
          std::string(gemmtune_last_error(handle)).find("m is -" + std::to_string(seed)) ==
              std::string::npos) {
        ++wrong;
      }
    }
  }
}

TEST_CASE("16 threads on one handle, everything first met by many at once") {
  const Mixed library(60);
  const Handle handle = library.create();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t <= kThreads; ++t)
      threads.emplace_back([&, t] { work(handle.get(), library, t, wrong); });
  }
  CHECK(wrong == 0);
  // Each kernel was loaded once, however many threads wanted it first.
  int kernels = 0;
  for (const std::string& call : library.fake.calls()) kernels += call == "cuModuleLoadDataEx";
  CHECK(kernels == library.fake.live("module"));
}

TEST_CASE("threads with handles of their own, made and destroyed while others run") {
  const Mixed library(12);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t <= 6; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned round = 0; round < 3; ++round) {
          const Handle handle = library.create();
          work(handle.get(), library, 10 * t + round, wrong);
        }
      });
    }
  }
  CHECK(wrong == 0);
}

// What the library and the driver keep a thread lies elsewhere for each of them.
TEST_CASE("400 threads that are alive at once") {
  const Mixed library(12);
  const Handle handle = library.create();
  std::atomic<int> wrong = 0;
  std::latch all_ran(400);
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 400; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        const Problem& problem = library.problems[random() % library.problems.size()];
        if (run(handle.get(), problem, random) != GEMMTUNE_STATUS_SUCCESS) ++wrong;
        all_ran.arrive_and_wait();
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("prewarm by several threads at once prepares all of them") {
  const Mixed library(40);
  const Handle handle = library.create();
  std::vector<gemmtune_problem> problems;
  for (const Problem& problem : library.problems) problems.push_back(to_c(problem));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        if (gemmtune_prewarm(handle.get(), problems.data(), problems.size(), nullptr) !=
            GEMMTUNE_STATUS_SUCCESS) {
          ++wrong;
        }
      });
    }
  }
  CHECK(wrong == 0);
  for (const gemmtune_problem& problem : problems)
    CHECK(explain(handle.get(), problem, GEMMTUNE_JSON).find("\"prepared\":true") !=
          std::string::npos);
}

TEST_CASE("a thread may call after what belongs to it has ended") {
  pthread_key_t last = 0;
  REQUIRE(pthread_key_create(&last, [](void* message) {
            gemmtune_create(nullptr, nullptr);
            *static_cast<std::string*>(message) = gemmtune_last_error(nullptr);
          }) == 0);
  std::string during;
  std::string after = "not called";
  std::thread([&] {
    pthread_setspecific(last, &after);
    gemmtune_create(nullptr, nullptr);
    during = gemmtune_last_error(nullptr);
  }).join();
  pthread_key_delete(last);
  CHECK_FALSE(during.empty());
  CHECK(after.empty());
}

}  // namespace
}  // namespace gemmtune::dispatch_test
