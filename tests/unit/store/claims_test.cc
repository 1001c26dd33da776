#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "../rounds.h"
#include "store_fixture.h"

namespace gemmtune::store {
namespace {

using Indices = std::vector<size_t>;

std::vector<CandidateKey> sample_keys(int count) {
  std::vector<CandidateKey> keys;
  for (int i = 0; i < count; ++i) keys.push_back(sample_key(i));
  return keys;
}

ClaimRequest request(const std::string& owner, size_t limit, int seconds = 60) {
  ClaimRequest request;
  request.owner.id = owner;
  request.limit = limit;
  request.lifetime = std::chrono::seconds(seconds);
  return request;
}

Indices granted(RecordStore& store, const Job& job, const std::vector<CandidateKey>& keys,
                const ClaimRequest& request) {
  const auto claims = store.claim(job, keys, request);
  REQUIRE_MESSAGE(claims.has_value(), claims.error().message);
  return claims->granted();
}

// One whose owner runs in the process `of`.
ClaimRequest request_of(const std::string& owner, const ProcessIdentity& of) {
  ClaimRequest asked = request(owner, 9);
  asked.owner.process = of;
  return asked;
}

TEST_CASE("claims: exclusive, renewable, and free again after record, release or their lifetime") {
  Sample sample;
  RecordStore& store = *sample.store;
  const Job job = sample_job();
  const auto keys = sample_keys(4);
  CHECK(granted(store, job, keys, request("a", 2)) == Indices{0, 1});
  CHECK(granted(store, job, keys, request("b", 9)) == Indices{2, 3});
  CHECK(granted(store, job, keys, request("c", 9)).empty());
  CHECK(granted(store, job, keys, request("a", 9)) == Indices{0, 1});  // its own, again

  REQUIRE(store.record(sample_record(sample.run, 10, 0)));
  CHECK(granted(store, job, keys, request("c", 9)).empty());  // finished, so not given out
  ClaimRequest again = request("c", 9);
  again.repeat_until = *store.revision();
  CHECK(granted(store, job, keys, again) == Indices{0});  // the record ended a's claim

  REQUIRE(store.release({"b", {}}));
  CHECK(granted(store, job, keys, request("d", 1)) == Indices{2});

  sample.clock.advance(std::chrono::seconds(59));
  CHECK(granted(store, job, keys, request("e", 9)) == Indices{3});
  CHECK(granted(store, job, keys, request("a", 9)) == Indices{1});  // extends it
  sample.clock.advance(std::chrono::seconds(1));
  CHECK(granted(store, job, keys, request("f", 9)) == Indices{2});  // d's ran out
}

TEST_CASE("claims: apart for every part of job and key") {
  Sample sample;
  RecordStore& store = *sample.store;
  const Job job = sample_job();
  const std::vector<CandidateKey> one = {sample_key()};
  REQUIRE(granted(store, job, one, request("a", 1)).size() == 1);
  std::vector<Job> jobs(4, job);
  jobs[0].device_uuid = kOtherUuid;
  jobs[1].device_uuid.clear();
  jobs[2].warm = true;
  jobs[3].arch.specific = true;
  for (const Job& other : jobs) CHECK(granted(store, other, one, request("b", 1)).size() == 1);
  std::vector<CandidateKey> keys(4, sample_key());
  keys[0].strategy = "other";
  keys[1].config = "other";
  keys[2].source_hash = "other";
  keys[3].compiler_version = "other";
  CHECK(granted(store, job, keys, request("b", 9)).size() == 4);
  CHECK(granted(store, sample_job({1, 2, 3}), one, request("b", 1)).size() == 1);
}

TEST_CASE("claims: refused without owner, lifetime or device") {
  Sample sample;
  const auto keys = sample_keys(1);
  CHECK_FALSE(sample.store->claim(sample_job(), keys, request("", 1)));
  CHECK_FALSE(sample.store->claim(sample_job(), keys, request("a", 1, 0)));
  CHECK_FALSE(sample.store->claim(sample_job({1, 1, 1}, "GPU-none"), keys, request("a", 1)));
  CHECK(granted(*sample.store, sample_job(), keys, request("a", 0)).empty());
}

TEST_CASE("claims: an answer says what is finished, what others hold, and what was not looked at") {
  Sample sample;
  RecordStore& store = *sample.store;
  const auto keys = sample_keys(4);
  REQUIRE(store.record(sample_record(sample.run, 10, 0)));
  REQUIRE(granted(store, sample_job(), {keys[1]}, request("a", 1)).size() == 1);
  const auto claims = store.claim(sample_job(), keys, request("b", 1));
  REQUIRE(claims);
  CHECK(claims->states == std::vector{ClaimState::finished, ClaimState::held, ClaimState::granted,
                                      ClaimState::not_reached});
  CHECK(claims->held_by_others == 1);
}

TEST_CASE("claims: those of a process that ended on this machine are free at once") {
  Sample sample;
  RecordStore& store = *sample.store;
  const auto keys = sample_keys(2);
  const pid_t child = spawn([] { return pause(); });
  const ProcessIdentity process = identity_of(child);
  REQUIRE_FALSE(process.machine.empty());
  CHECK_FALSE(has_ended(process));
  REQUIRE(granted(store, sample_job(), keys, request_of("child", process)).size() == 2);
  CHECK(granted(store, sample_job(), keys, request("a", 9)).empty());
  kill(child, SIGKILL);
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  // It still has its pid, as its parent has not asked for its exit code.
  CHECK(has_ended(process));
  CHECK(granted(store, sample_job(), keys, request("a", 9)).size() == 2);
  REQUIRE(store.release({"a", {}}));
  CHECK(wait_for(child) == 1000 + SIGKILL);
  CHECK(has_ended(process));
  REQUIRE(granted(store, sample_job(), keys, request_of("child", process)).size() == 2);
  CHECK(granted(store, sample_job(), keys, request("b", 9)).size() == 2);
}

TEST_CASE("claims: a process that ends while it is asked about has ended, and is no error") {
  std::atomic<pid_t> newest = getpid();
  std::atomic<bool> done = false;
  std::jthread processes([&] {
    const int processes_in_all = rounds(200);
    for (int i = 0; i < processes_in_all; ++i) {
      newest = spawn([] { return 0; });
      wait_for(newest);
    }
    done = true;
  });
  ProcessIdentity last;
  while (!done) {
    const ProcessIdentity process = identity_of(newest);
    if (!process.machine.empty()) last = process;
    static_cast<void>(has_ended(last));
  }
  processes.join();
  CHECK(last.pid != 0);
  CHECK((last.pid == getpid() || has_ended(last)));
}

TEST_CASE("claims: another process with the number of one that ended does not keep its claims") {
  Sample sample;
  ProcessIdentity before = this_process();
  --before.started;
  const auto keys = sample_keys(1);
  REQUIRE(granted(*sample.store, sample_job(), keys, request_of("a", before)).size() == 1);
  CHECK(granted(*sample.store, sample_job(), keys, request("b", 9)).size() == 1);
}

TEST_CASE(
    "claims: those of a living process, and of one elsewhere, last as long as they are renewed") {
  Sample sample;
  RecordStore& store = *sample.store;
  const auto keys = sample_keys(2);
  const ProcessIdentity here = this_process();
  CHECK_FALSE(here.machine.empty());
  CHECK_FALSE(has_ended(here));
  ProcessIdentity elsewhere = here;
  elsewhere.machine += "x";
  --elsewhere.started;
  CHECK_FALSE(has_ended(elsewhere));
  REQUIRE(granted(store, sample_job(), {keys[0]}, request_of("here", here)).size() == 1);
  REQUIRE(granted(store, sample_job(), {keys[1]}, request_of("elsewhere", elsewhere)).size() == 1);
  CHECK(granted(store, sample_job(), keys, request("b", 9)).empty());
  sample.clock.advance(std::chrono::seconds(59));
  REQUIRE(store.renew({"here", {}}, std::chrono::seconds(60)));
  sample.clock.advance(std::chrono::seconds(1));
  CHECK(granted(store, sample_job(), keys, request("b", 9)) == Indices{1});
}

TEST_CASE("claims: owners share a budget, which counts what they hold and what was recorded") {
  Sample sample;
  RecordStore& store = *sample.store;
  const auto keys = sample_keys(10);
  const auto with_budget = [&](const char* owner, int left, int64_t known) {
    ClaimRequest asked = request(owner, 9);
    asked.budget = {left, known, [](const CandidateKey& key) { return key != sample_key(9); }};
    return asked;
  };
  const int64_t known = *store.revision();
  REQUIRE(granted(store, sample_job(), {keys[9]}, request("other", 1)).size() == 1);  // not counted
  CHECK(granted(store, sample_job(), {keys[0]}, with_budget("a", 4, known)).size() == 1);
  CHECK(granted(store, sample_job(), {keys[1]}, with_budget("b", 4, known)).size() == 1);
  REQUIRE(store.record(sample_record(sample.run, 10, 0)));
  REQUIRE(store.record(sample_record(sample.run, 10, 2)));
  // Of 4, one is held and two were recorded that "a" does not know of.
  const auto claims = store.claim(sample_job(), keys, with_budget("a", 4, known));
  CHECK(claims->granted() == Indices{3});
  CHECK(claims->held_by_others == 1);
  CHECK(claims->newly_recorded == 2);
  CHECK(granted(store, sample_job(), keys, with_budget("a", 2, *store.revision())).empty());
}

TEST_CASE("changes: what was recorded of a job after a revision, in that order") {
  Sample sample;
  RecordStore& store = *sample.store;
  REQUIRE(store.record(sample_record(sample.run, 10, 1)));
  const int64_t before = *store.revision();
  CHECK(store.changes(sample_job(), before)->records.empty());
  REQUIRE(store.record(sample_record(sample.run, 10, 2)));
  REQUIRE(store.record(failed_record(sample.run, Outcome::compile_failed, 3)));
  REQUIRE(store.record(sample_record(sample.run, 10, 1)));
  Record elsewhere = sample_record(sample.run, 10, 4);
  elsewhere.job.warm = true;
  REQUIRE(store.record(elsewhere));
  const auto changes = store.changes(sample_job(), before);
  REQUIRE(changes);
  REQUIRE(changes->records.size() == 3);
  CHECK(changes->records[0].key == sample_key(2));
  CHECK(changes->records[1].key == sample_key(3));
  CHECK(changes->records[2].key == sample_key(1));
  CHECK(changes->revision == *store.revision());
  CHECK(store.changes(sample_job({1, 2, 3}), 0)->records.empty());
}

TEST_CASE("done: what needs no further work") {
  Sample sample;
  RecordStore& store = *sample.store;
  REQUIRE(store.record(sample_record(sample.run, 10, 0)));
  REQUIRE(store.record(failed_record(sample.run, Outcome::compile_failed, 1)));
  Record transferred = sample_record(sample.run, 10, 2);
  transferred.provenance = Provenance::transferred;
  transferred.measurement.reset();
  REQUIRE(store.record(transferred));
  Record predicted = transferred;
  predicted.provenance = Provenance::predicted;
  predicted.job.device_uuid.clear();
  REQUIRE(store.record(predicted));

  const auto done = store.done(sample_job());
  REQUIRE(done->size() == 2);
  CHECK(done->at(0).key == sample_key(0));
  CHECK(done->at(0).outcome == Outcome::ok);
  CHECK(done->at(1).outcome == Outcome::compile_failed);
  CHECK(granted(store, sample_job(), sample_keys(4), request("a", 9)) == Indices{2, 3});

  Job arch_only = sample_job();
  arch_only.device_uuid.clear();
  CHECK(store.done(arch_only)->size() == 1);
  CHECK(store.done(sample_job({1, 1, 1}))->empty());
}

}  // namespace
}  // namespace gemmtune::store
