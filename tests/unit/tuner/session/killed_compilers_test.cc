// Sessions whose compilers are killed.
#include "tuner/session/killed_compilers.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "session_fixture.h"

namespace gemmtune::tuner {
namespace {

using session_test::Fixture;

struct KilledFixture : Fixture {
  // Rows of an outcome in the store.
  int stored(store::Outcome outcome) {
    const auto records = store->candidates(request.problem, filter());
    REQUIRE(records);
    int count = 0;
    for (const store::Record& record : *records) count += record.outcome == outcome ? 1 : 0;
    return count;
  }

  // From now on the compilers of the source that is compiled first, whenever it is.
  void kill_first_source() {
    compiler->killed = [victim = std::make_shared<std::string>()](
                           const jit::CompileRequest& compiled, int) {
      if (victim->empty()) *victim = compiled.source.text;
      return compiled.source.text == *victim;
    };
  }

  std::string killed_message() {
    const auto report = tune(request, services);
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == ErrorKind::failed);
    return report.error().message;
  }
};

bool says_killed(const std::string& message) {
  return message.find("killed again and again") != std::string::npos &&
         message.find("signal 9") != std::string::npos;
}

TEST_CASE_FIXTURE(KilledFixture, "whose compiler was killed is compiled again") {
  compiler->killed = [](const jit::CompileRequest&, int before) { return before < 1; };
  request.threads = 1;
  const auto report = tune(request, services);
  REQUIRE(report);
  CHECK(report->evaluated == 12);
  CHECK(report->measured == 12);
  CHECK(report->failures.empty());
  CHECK(stored(store::Outcome::compile_failed) == 0);
}

TEST_CASE_FIXTURE(KilledFixture, "compilers that are always killed end a search, which can go on") {
  int left = 5;
  request.threads = 1;
  compiler->killed = [&](const jit::CompileRequest&, int) { return --left < 0; };
  CHECK(says_killed(killed_message()));
  CHECK(stored(store::Outcome::ok) == 5);
  CHECK(stored(store::Outcome::compile_failed) == 0);
  CHECK(store->info()->claims == 0);
  compiler->killed = {};
  const auto report = tune(request, services);
  REQUIRE(report);
  CHECK(report->resumed == 5);
  CHECK(report->measured == 7);
}

TEST_CASE_FIXTURE(KilledFixture, "one candidate whose compilers are killed is left for later") {
  kill_first_source();
  const auto report = tune(request, services);
  REQUIRE(report);
  CHECK(report->measured == 11);
  CHECK(report->evaluated == 11);
  CHECK_FALSE(report->ranking.empty());
  CHECK(stored(store::Outcome::compile_failed) == 0);
  CHECK(store->info()->claims == 0);
  compiler->killed = {};
  const auto later = tune(request, services);
  REQUIRE(later);
  CHECK(later->evaluated == 1);
}

TEST_CASE_FIXTURE(KilledFixture, "a candidate that is left for later leaves its place to another") {
  request.max_candidates = 3;
  request.threads = 1;
  kill_first_source();
  const auto report = tune(request, services);
  REQUIRE(report);
  CHECK(report->measured == 3);
}

TEST_CASE_FIXTURE(KilledFixture, "a final round whose compilers are killed is not held") {
  REQUIRE(tune(request, services));
  compiler->caching = false;
  compiler->killed = [](const jit::CompileRequest&, int) { return true; };
  CHECK(says_killed(killed_message()));
  CHECK(stored(store::Outcome::ok) == 12);
  CHECK(stored(store::Outcome::compile_failed) == 0);
}

TEST_CASE_FIXTURE(KilledFixture, "a search of one candidate says that its compilers were killed") {
  request.max_candidates = 1;
  compiler->killed = [](const jit::CompileRequest&, int) { return true; };
  CHECK(says_killed(killed_message()));
  CHECK(stored(store::Outcome::compile_failed) == 0);
}

}  // namespace
}  // namespace gemmtune::tuner
