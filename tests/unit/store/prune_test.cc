// What a store holds, and what is removed from it.
#include <doctest/doctest.h>

#include "store/timestamp.h"
#include "store_fixture.h"

namespace gemmtune::store {
namespace {

int candidates_of(RecordStore& store) {
  return static_cast<int>(store.info()->candidates);
}

}  // namespace

TEST_CASE("info counts rows") {
  Sample sample;
  const auto empty = sample.store->info();
  REQUIRE(empty);
  CHECK(empty->candidates == 0);
  CHECK(empty->devices == 2);
  CHECK(empty->runs == 1);
  CHECK(empty->first_write.empty());
  CHECK(empty->file_bytes > 0);
  REQUIRE(sample.store->record(sample_record(sample.run, 10)));
  sample.clock.advance(std::chrono::seconds(5));
  REQUIRE(sample.store->record(sample_record(sample.run, 11)));
  REQUIRE(sample.store->record(failed_record(sample.run, Outcome::spilled, 1)));
  REQUIRE(sample.store->record(failed_record(sample.run, Outcome::spilled, 2)));
  ClaimRequest claim;
  claim.owner.id = "me";
  REQUIRE(sample.store->claim(sample_job(), std::vector{sample_key(5)}, claim));
  const auto info = sample.store->info();
  REQUIRE(info);
  CHECK(info->candidates == 3);
  CHECK(info->measurements == 2);
  CHECK(info->problems == 1);
  CHECK(info->claims == 1);
  CHECK(info->stale == 0);
  CHECK(info->outcomes == std::vector<std::pair<std::string, int64_t>>{{"spilled", 2}, {"ok", 1}});
  CHECK(info->provenances == std::vector<std::pair<std::string, int64_t>>{{"measured", 3}});
  CHECK(info->first_write == "2025-01-31T00:00:00.000Z");
  CHECK(info->last_write == "2025-01-31T00:00:05.000Z");
}

TEST_CASE("failures go, unless they replaced what worked") {
  Sample sample;
  REQUIRE(sample.store->record(sample_record(sample.run, 10)));
  REQUIRE(sample.store->record(sample_record(sample.run, 12, 1)));
  REQUIRE(sample.store->record(failed_record(sample.run, Outcome::compile_failed, 2)));
  // Number 1 no longer compiles: its old row must not become current again.
  Record broken = failed_record(sample.run, Outcome::compile_failed, 1);
  broken.key.source_hash = "newer";
  REQUIRE(sample.store->record(broken));
  PruneRequest request;
  request.failures = true;
  request.dry_run = true;
  const auto tried = sample.store->prune(request);
  REQUIRE_MESSAGE(tried.has_value(), tried.error().message);
  CHECK(tried->candidates == 1);
  CHECK(candidates_of(*sample.store) == 4);
  request.dry_run = false;
  CHECK(sample.store->prune(request)->candidates == 1);
  CHECK(candidates_of(*sample.store) == 3);
  CHECK(sample.store->info()->stale == 1);
}

TEST_CASE("stale ones go, unless nothing better is there") {
  Sample sample;
  REQUIRE(sample.store->record(sample_record(sample.run, 10)));
  REQUIRE(sample.store->record(sample_record(sample.run, 12, 1)));
  Record newer = sample_record(sample.run, 11);
  newer.key.source_hash = "newer";
  REQUIRE(sample.store->record(newer));
  Record alone = sample_record(sample.run, 10);
  alone.job.problem = make_problem({256, 256, 256});
  REQUIRE(sample.store->record(alone));
  Record broken = failed_record(sample.run, Outcome::compile_failed);
  broken.job = alone.job;
  broken.key.source_hash = "newer";
  REQUIRE(sample.store->record(broken));
  PruneRequest request;
  request.stale = true;
  const auto counts = sample.store->prune(request);
  REQUIRE(counts);
  CHECK(counts->candidates == 1);
  CHECK(counts->measurements == 1);
  CHECK((*sample.store->best(alone.job.problem, {}))->stale);
  CHECK((*sample.store->best(sample_job().problem, {}))->key.source_hash == "newer");
}

TEST_CASE("old measurements and old candidates") {
  Sample sample;
  for (int i = 0; i < 5; ++i) {
    sample.clock.advance(std::chrono::seconds(1));
    REQUIRE(sample.store->record(sample_record(sample.run, 10 + i)));
    REQUIRE(sample.store->record(sample_record(sample.run, 20 + i, 1)));
  }
  PruneRequest request;
  request.keep_measurements = 2;
  CHECK(sample.store->prune(request)->measurements == 6);
  const auto best = sample.store->best(sample_job().problem, {});
  CHECK((*best)->measurement->median_us == 14);
  CHECK(sample.store->history((*best)->id)->front().median_us == 13);
  request.keep_measurements = 0;
  CHECK_FALSE(sample.store->prune(request));

  sample.clock.advance(std::chrono::hours(24));
  const auto run = sample.store->begin_run({"0.2.0", "13.0", 13000, ""});
  Record other = sample_record(*run, 10);
  other.job.problem = make_problem({256, 256, 256});
  REQUIRE(sample.store->record(other));
  PruneRequest old;
  old.not_since = "2025-02-01T00:00:00.000Z";
  CHECK(sample.store->prune(old)->candidates == 1);  // the best one stays
  CHECK(candidates_of(*sample.store) == 2);
  CHECK(sample.store->check());
}

TEST_CASE("what nothing refers to goes too") {
  Sample sample;
  const auto empty_run = sample.store->begin_run({"0.1.0", "13.0", 13000, "found nothing"});
  REQUIRE(empty_run);
  Record failure = failed_record(sample.run, Outcome::illegal);
  REQUIRE(sample.store->record(failure));
  PruneRequest request;
  request.failures = true;
  REQUIRE(sample.store->prune(request));
  const auto info = sample.store->info();
  CHECK(info->problems == 0);
  CHECK(info->runs == 0);
  CHECK(info->devices == 2);
  int winners = 0;
  REQUIRE(sample.store->winners(false, [&](const Winner&) { ++winners; }));
  CHECK(winners == 0);
}

TEST_CASE("times may be cut off after the day, the minute or the second") {
  CHECK(parse_timestamp("2025-01-31").value() == "2025-01-31T00:00:00.000Z");
  CHECK(parse_timestamp("2024-02-29Z").value() == "2024-02-29T00:00:00.000Z");
  CHECK(parse_timestamp("2025-01-31T23:59").value() == "2025-01-31T23:59:00.000Z");
  CHECK(parse_timestamp("2025-01-31T23:59:58Z").value() == "2025-01-31T23:59:58.000Z");
  CHECK(parse_timestamp("2025-01-31T23:59:58.123Z").value() == "2025-01-31T23:59:58.123Z");
  for (const char* text :
       {"", "Z", "2025", "2025-1-31", "2025-02-30", "2025-13-01", "2025-01-00", "2025-01-31T",
        "2025-01-31T24:00", "2025-01-31T23:60", "2025-01-31 23:59", "2025-01-31T23:59:60",
        "2025-01-31T23:59:58.12", "2025-01-31T23:59:58.123ZZ", "2025-01-31T23:59:58+01:00"}) {
    CAPTURE(text);
    const auto time = parse_timestamp(text);
    REQUIRE_FALSE(time);
    CHECK(time.error().kind == ErrorKind::usage);
  }
}

}  // namespace gemmtune::store
