// Searches that begin before there is an evaluator.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "session_fixture.h"

namespace gemmtune::tuner {
namespace {

using session_test::Fixture;
using session_test::FormulaEvaluator;

struct BegunFixture : Fixture {
  BegunFixture() { services.evaluator = nullptr; }

  Tuning begun() {
    auto tuning = Tuning::begin(request, services);
    REQUIRE_MESSAGE(tuning.has_value(), (tuning ? "" : tuning.error().message));
    return std::move(*tuning);
  }

  // Candidates that a process of its own could take on.
  size_t free_candidates() {
    store::ClaimRequest claim;
    claim.owner = {"other", store::identity_of(getppid())};
    claim.limit = keys().size();
    const size_t granted = store->claim(job(), keys(), claim)->granted().size();
    REQUIRE(store->release(claim.owner));
    return granted;
  }
};

TEST_CASE_FIXTURE(BegunFixture, "a search that has begun compiles before there is an evaluator") {
  Tuning tuning = begun();
  for (int i = 0; i < 500 && compiler->compiled() < 6; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(compiler->compiled() == 6);  // three times as many as there are threads
  int told = 0;
  const auto report = std::move(tuning).run(evaluator, [&](const Progress&) { ++told; });
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(told > 0);
  CHECK(report->evaluated == 12);
  CHECK(compiler->most_often() == 1);
  CHECK(parse_tile(report->ranking.front().key.config)->order == 0);
}

TEST_CASE_FIXTURE(BegunFixture, "one that is given up leaves its candidates to others") {
  REQUIRE(store->add_device(*services.device));
  std::optional<Tuning> tuning = begun();
  CHECK(free_candidates() == 6);
  tuning.reset();
  CHECK(free_candidates() == 12);
}

TEST_CASE_FIXTURE(BegunFixture,
                  "one that waits for its turn keeps its candidates for ten minutes") {
  REQUIRE(store->add_device(*services.device));
  const Tuning tuning = begun();
  later = std::chrono::minutes(9);
  CHECK(free_candidates() == 6);
  later = std::chrono::minutes(11);
  CHECK(free_candidates() == 12);
}

TEST_CASE_FIXTURE(BegunFixture, "one whose turn it is keeps its candidates for two minutes") {
  Tuning tuning = begun();
  size_t freed = 0;
  evaluator.on_evaluate = [&](size_t asked) {
    if (asked != 1) return;
    const size_t before = free_candidates();
    later = std::chrono::minutes(3);
    freed = free_candidates() - before;
  };
  const auto report = std::move(tuning).run(evaluator, {});
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(freed >= 6);
}

TEST_CASE_FIXTURE(BegunFixture, "the time between the two steps is no part of the search") {
  request.max_seconds = 1;
  Tuning tuning = begun();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto report = std::move(tuning).run(evaluator, {});
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(report->evaluated == 12);
  CHECK(report->seconds < 1.5);
}

TEST_CASE_FIXTURE(BegunFixture, "two searches can be under way, of one store each") {
  Tuning first = begun();
  store::StoreOptions options;
  options.path = folder.path() / "tuned.db";
  auto other = store::open_store(options);
  REQUIRE(other);
  SessionServices second_services = services;
  second_services.store = other->get();
  TuneRequest second_request = request;
  second_request.problem = make_problem({512, 256, 256});
  auto second = Tuning::begin(second_request, second_services);
  REQUIRE(second);
  FormulaEvaluator another;
  CHECK(std::move(first).run(evaluator, {})->evaluated == 12);
  CHECK(std::move(*second).run(another, {})->job.problem == second_request.problem);
  CHECK(another.asked.size() == 12);
}

}  // namespace
}  // namespace gemmtune::tuner
