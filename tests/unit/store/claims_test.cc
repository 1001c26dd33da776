#include <doctest/doctest.h>

#include <map>

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
  request.owner = owner;
  request.limit = limit;
  request.lifetime = std::chrono::seconds(seconds);
  return request;
}

TEST_CASE("claims: exclusive, renewable, and free again after record, release or their lifetime") {
  Sample sample;
  RecordStore& store = *sample.store;
  const Job job = sample_job();
  const auto keys = sample_keys(4);
  CHECK(*store.claim(job, keys, request("a", 2)) == Indices{0, 1});
  CHECK(*store.claim(job, keys, request("b", 9)) == Indices{2, 3});
  CHECK(store.claim(job, keys, request("c", 9))->empty());
  CHECK(*store.claim(job, keys, request("a", 9)) == Indices{0, 1});  // its own, again

  REQUIRE(store.record(sample_record(sample.run, 10, 0)));
  CHECK(store.claim(job, keys, request("c", 9))->empty());  // finished, so not given out
  ClaimRequest again = request("c", 9);
  again.include_finished = true;
  CHECK(*store.claim(job, keys, again) == Indices{0});  // the record ended a's claim

  REQUIRE(store.release("b"));
  CHECK(*store.claim(job, keys, request("d", 1)) == Indices{2});

  sample.clock.advance(std::chrono::seconds(59));
  CHECK(*store.claim(job, keys, request("e", 9)) == Indices{3});
  CHECK(*store.claim(job, keys, request("a", 9)) == Indices{1});  // extends it
  sample.clock.advance(std::chrono::seconds(1));
  CHECK(*store.claim(job, keys, request("f", 9)) == Indices{2});  // d's ran out
}

TEST_CASE("claims: apart for every part of job and key") {
  Sample sample;
  RecordStore& store = *sample.store;
  const Job job = sample_job();
  const std::vector<CandidateKey> one = {sample_key()};
  REQUIRE(store.claim(job, one, request("a", 1))->size() == 1);
  std::vector<Job> jobs(4, job);
  jobs[0].device_uuid = kOtherUuid;
  jobs[1].device_uuid.clear();
  jobs[2].warm = true;
  jobs[3].arch.specific = true;
  for (const Job& other : jobs) CHECK(store.claim(other, one, request("b", 1))->size() == 1);
  std::vector<CandidateKey> keys(4, sample_key());
  keys[0].strategy = "other";
  keys[1].config = "other";
  keys[2].source_hash = "other";
  keys[3].compiler_version = "other";
  CHECK(store.claim(job, keys, request("b", 9))->size() == 4);
  CHECK(store.claim(sample_job({1, 2, 3}), one, request("b", 1))->size() == 1);
}

TEST_CASE("claims: refused without owner, lifetime or device") {
  Sample sample;
  const auto keys = sample_keys(1);
  CHECK_FALSE(sample.store->claim(sample_job(), keys, request("", 1)));
  CHECK_FALSE(sample.store->claim(sample_job(), keys, request("a", 1, 0)));
  CHECK_FALSE(sample.store->claim(sample_job({1, 1, 1}, "GPU-none"), keys, request("a", 1)));
  CHECK(sample.store->claim(sample_job(), keys, request("a", 0))->empty());
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
  CHECK(*store.claim(sample_job(), sample_keys(4), request("a", 9)) == Indices{2, 3});

  Job arch_only = sample_job();
  arch_only.device_uuid.clear();
  CHECK(store.done(arch_only)->size() == 1);
  CHECK(store.done(sample_job({1, 1, 1}))->empty());
}

}  // namespace
}  // namespace gemmtune::store
