// Candidates that are out of date.
#include <doctest/doctest.h>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

// Says that one source hash is out of date, and counts how often it was asked.
struct CountingJudge {
  std::string outdated_hash;
  int asked = 0;

  Judge as(const std::string& fingerprint) {
    Judge judge;
    judge.fingerprint = fingerprint;
    judge.is_outdated = [this](const Record& record, int) {
      ++asked;
      return record.key.source_hash == outdated_hash;
    };
    return judge;
  }
};

Record with_source(int64_t run, const std::string& config, const std::string& hash, double us) {
  Record record = sample_record(run, us);
  record.key.config = config;
  record.key.source_hash = hash;
  return record;
}

TEST_CASE("what is out of date is stale, shown, and used only where nothing better is there") {
  Sample sample;
  REQUIRE(sample.store->record(with_source(sample.run, "a", "old", 10)));
  REQUIRE(sample.store->record(with_source(sample.run, "b", "new", 20)));
  const Problem problem = sample_job().problem;
  CHECK((*sample.store->best(problem, {}))->key.config == "a");

  CountingJudge judge{"old"};
  CHECK(sample.store->judge(judge.as("1")) == 1);
  CHECK(judge.asked == 2);
  CHECK((*sample.store->best(problem, {}))->key.config == "b");
  const auto all = sample.store->candidates(problem, {});
  REQUIRE(all->size() == 2);
  CHECK(all->at(1).key.config == "a");
  CHECK(all->at(1).stale);
  CHECK(sample.store->info()->stale == 1);
  std::string winner;
  REQUIRE(sample.store->winners(
      false, [&](const Winner& w) { winner = w.kernel ? std::string(w.kernel->config) : ""; }));
  CHECK(winner == "b");

  // The same again is not looked at again.
  CHECK(sample.store->judge(judge.as("1")) == 0);
  CHECK(judge.asked == 2);

  // Everything out of date: the better of it serves.
  REQUIRE(sample.store->record(with_source(sample.run, "b", "new", 20)));
  Judge all_old;
  all_old.fingerprint = "2";
  all_old.is_outdated = [](const Record&, int) { return true; };
  CHECK(sample.store->judge(all_old) == 1);
  CHECK((*sample.store->best(problem, {}))->key.config == "a");
  CHECK((*sample.store->best(problem, {}))->stale);

  // And back, as with the program's older version.
  judge.outdated_hash = "nothing";
  CHECK(sample.store->judge(judge.as("3")) == 2);
  CHECK_FALSE((*sample.store->best(problem, {}))->stale);
}

TEST_CASE("a candidate that is written again is current, and an older source may be it again") {
  Sample sample;
  REQUIRE(sample.store->record(with_source(sample.run, "a", "old", 10)));
  REQUIRE(sample.store->record(with_source(sample.run, "a", "new", 12)));
  const Problem problem = sample_job().problem;
  CHECK((*sample.store->best(problem, {}))->key.source_hash == "new");
  CountingJudge judge{"new"};
  REQUIRE(sample.store->judge(judge.as("1")));
  CHECK((*sample.store->best(problem, {}))->key.source_hash == "old");
  REQUIRE(sample.store->record(with_source(sample.run, "a", "new", 12)));
  CHECK((*sample.store->best(problem, {}))->key.source_hash == "new");
}

TEST_CASE("what was merged in is judged the next time") {
  Sample mine;
  Sample theirs;
  REQUIRE(theirs.store->record(with_source(theirs.run, "a", "old", 10)));
  CountingJudge judge{"old"};
  CHECK(mine.store->judge(judge.as("1")) == 0);
  std::vector<Entry> entries;
  EntryQuery all;
  all.filter.warm = std::nullopt;
  REQUIRE(theirs.store->entries(all, [&](const Entry& entry) { entries.push_back(entry); }));
  REQUIRE(mine.store->merge(entries));
  CHECK(mine.store->judge(judge.as("1")) == 1);
  CHECK(mine.store->info()->stale == 1);
}

TEST_CASE("a judge is told the driver of the run") {
  Sample sample;
  REQUIRE(sample.store->record(sample_record(sample.run, 10)));
  int seen = -1;
  Judge judge;
  judge.fingerprint = "1";
  judge.is_outdated = [&](const Record&, int driver_version) {
    seen = driver_version;
    return false;
  };
  REQUIRE(sample.store->judge(judge));
  CHECK(seen > 0);
}

}  // namespace
}  // namespace gemmtune::store
