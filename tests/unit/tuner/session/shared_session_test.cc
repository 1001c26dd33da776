// Sessions beside other processes that tune the same job, alive and dead. The others are claims in
// the store, and threads with sessions of their own.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <thread>

#include "session_fixture.h"

namespace gemmtune::tuner {
namespace {

using session_test::Fixture;

// A child process that does nothing.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  store::ProcessIdentity identity() const { return store::identity_of(pid_); }
  void end() {
    if (ended_) return;
    ended_ = true;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

struct SharedFixture : Fixture {
  // Another process that holds candidates.
  void hold(const store::ClaimOwner& owner, const std::vector<store::CandidateKey>& wanted,
            std::chrono::seconds lifetime = std::chrono::seconds(120)) {
    REQUIRE(store->add_device(*services.device));
    store::ClaimRequest claim;
    claim.owner = owner;
    claim.limit = wanted.size();
    claim.lifetime = lifetime;
    REQUIRE(store->claim(job(), wanted, claim)->granted().size() == wanted.size());
  }

  store::Record failed(const store::CandidateKey& key) const {
    store::Record record;
    record.job = job();
    record.key = key;
    record.outcome = store::Outcome::spilled;
    record.run_id = *store->begin_run(services.run);
    return record;
  }

  TuneReport tuned() {
    auto report = tune(request, services);
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
    return std::move(*report);
  }
};

TEST_CASE_FIXTURE(SharedFixture, "what a dead process held is tried as if it were free") {
  Child child;
  hold({"dead", child.identity()}, keys());
  child.end();
  for (const bool fresh : {false, true}) {
    request.fresh = fresh;
    CHECK(tuned().evaluated == 12);
  }
}

TEST_CASE_FIXTURE(SharedFixture, "a session tries what is free, and waits for the rest") {
  const auto all = keys();
  Child child;
  hold({"other", child.identity()}, {all.begin(), all.begin() + 5});
  evaluator.on_evaluate = [&](size_t asked) {
    if (asked == 7) child.end();
  };
  CHECK(tuned().evaluated == 12);
}

TEST_CASE_FIXTURE(SharedFixture, "a session waits for one candidate that another holds") {
  Child child;
  hold({"other", child.identity()}, keys());
  auto ended = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    child.end();
  });
  CHECK(tuned().evaluated == 12);
}

TEST_CASE_FIXTURE(SharedFixture, "what a process elsewhere held is tried once its claims expired") {
  store::ProcessIdentity elsewhere = store::this_process();
  elsewhere.machine += " another";
  hold({"elsewhere", elsewhere}, keys(), std::chrono::seconds(1));
  CHECK(tuned().evaluated == 12);
}

TEST_CASE_FIXTURE(SharedFixture, "a session takes over what others find in the meantime") {
  const auto all = keys();
  REQUIRE(store->add_device(*services.device));
  const store::ClaimOwner other{"other", store::this_process()};
  hold(other, {all[0]});
  evaluator.on_evaluate = [&](size_t asked) {
    if (asked == 3) REQUIRE(store->record(failed(all[0])));
  };
  const TuneReport report = tuned();
  CHECK(report.evaluated == 11);
  CHECK(report.resumed == 1);
}

TEST_CASE_FIXTURE(SharedFixture, "sessions side by side share one budget and find the same") {
  request.max_candidates = 9;
  std::vector<TuneReport> reports;
  {
    std::vector<std::future<TuneReport>> sessions;
    for (int i = 0; i < 3; ++i) {
      sessions.push_back(std::async(std::launch::async, [&, i] {
        session_test::FormulaEvaluator own;
        own.on_evaluate = [](size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
        SessionServices mine = services;
        mine.evaluator = &own;
        TuneRequest wanted = request;
        wanted.seed = static_cast<uint64_t>(i) + 1;
        return tune(wanted, mine).value();
      }));
    }
    for (auto& session : sessions) reports.push_back(session.get());
  }
  int evaluated = 0;
  for (const TuneReport& report : reports) {
    evaluated += report.evaluated;
    CHECK(report.evaluated + report.resumed == 9);
    REQUIRE_FALSE(report.ranking.empty());
    CHECK(report.ranking.front().key == reports.front().ranking.front().key);
  }
  CHECK(evaluated == 9);
  CHECK(store->candidates(request.problem, filter())->size() == 9 + 1);  // and the vendor
  CHECK(store->info()->claims == 0);
}

TEST_CASE_FIXTURE(SharedFixture,
                  "a session that starts when all are held ends with their results") {
  const auto all = keys();
  request.max_candidates = 12;
  hold({"other", store::this_process()}, all);
  auto other = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (const auto& key : all) {
      store::Record record = failed(key);
      record.outcome = store::Outcome::ok;
      record.measurement.emplace();
      record.measurement->median_us = record.measurement->ci_low_us = 60;
      record.measurement->ci_high_us = record.measurement->min_us = 60;
      record.measurement->sample_count = 1;
      REQUIRE(store->record(record));
    }
  });
  const TuneReport report = tuned();
  CHECK(report.evaluated == 0);
  CHECK(report.resumed == 12);
  CHECK_FALSE(report.ranking.empty());
}

}  // namespace
}  // namespace gemmtune::tuner
