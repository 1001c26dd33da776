// Stores that are merged.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "../rounds.h"
#include "random_records.h"

namespace gemmtune::store {
namespace {

// A store's whole content, in lines.
std::vector<std::string> lines_of(RecordStore& store) {
  std::vector<std::string> lines;
  EntryQuery all;
  all.filter.warm = std::nullopt;
  all.filter.include_vendor = true;
  REQUIRE(store.entries(all, [&](const Entry& entry) { lines.push_back(to_line(entry)); }));
  return lines;
}

std::vector<Entry> entries_of(RecordStore& store) {
  std::vector<Entry> entries;
  for (const std::string& line : lines_of(store)) {
    auto entry = parse_line(line);
    REQUIRE_MESSAGE(entry.has_value(), entry.error().message);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

// What is stale, and how fast the best of each job is.
std::map<std::string, std::string> verdicts_of(RecordStore& store) {
  std::map<std::string, std::string> verdicts;
  for (const Entry& entry : entries_of(store)) {
    Filter filter;
    filter.arch = entry.record.job.arch;
    filter.device_uuid = entry.record.job.device_uuid;
    filter.warm = entry.record.job.warm;
    const auto candidates = store.candidates(entry.record.job.problem, filter);
    REQUIRE(candidates);
    const auto same = std::find_if(candidates->begin(), candidates->end(),
                                   [&](const Record& r) { return r.key == entry.record.key; });
    REQUIRE(same != candidates->end());
    const auto best = store.best(entry.record.job.problem, filter);
    REQUIRE(best);
    std::string verdict = same->stale ? "stale" : "current";
    if (*best) {
      const double time = (*best)->measurement ? (*best)->measurement->median_us
                                               : (*best)->predicted_us.value_or(0);
      verdict += " " + std::to_string(time);
    }
    verdicts[identity(entry)] = verdict;
  }
  return verdicts;
}

// A store that somebody tuned into, at their own time.
std::unique_ptr<RecordStore> random_store(const TempDir& dir, unsigned seed) {
  Generator random(seed);
  const FakeClock clock;
  clock.advance(std::chrono::milliseconds(random.below(500)));
  StoreOptions options;
  options.now = clock;
  auto store = must_open(dir / (std::to_string(seed) + ".db"), options);
  const int64_t run = prepare(*store);
  for (int i = 5 + random.below(20); i > 0; --i) {
    clock.advance(std::chrono::milliseconds(1 + random.below(10)));
    Record record = random.record(run);
    if (record.job.device_uuid.empty() && record.provenance == Provenance::measured) continue;
    REQUIRE(store->record(record));
  }
  return store;
}

}  // namespace

TEST_CASE("stores merged in any order, and twice, hold the same") {
  for (int round = 0; round < rounds(2); ++round) {
    CAPTURE(round);
    const TempDir dir;
    std::vector<std::vector<Entry>> sources;
    for (unsigned i = 0; i < 3; ++i)
      sources.push_back(entries_of(*random_store(dir, 100 * static_cast<unsigned>(round) + i)));
    std::vector<size_t> order = {0, 1, 2};
    std::vector<std::string> expected;
    std::map<std::string, std::string> verdicts;
    do {
      const TempDir target;
      const auto store = must_open(target / "merged.db");
      for (const size_t i : order) REQUIRE(store->merge(sources[i]));
      const auto lines = lines_of(*store);
      if (expected.empty()) expected = lines;
      if (verdicts.empty()) verdicts = verdicts_of(*store);
      CHECK(lines == expected);
      CHECK(verdicts_of(*store) == verdicts);
      // Once more, and the store into itself: nothing is new.
      for (const size_t i : order) {
        const auto again = store->merge(sources[i]);
        REQUIRE(again);
        CHECK(again->added == 0);
        CHECK(again->changed == 0);
        CHECK(again->unchanged == static_cast<int>(sources[i].size()));
      }
      CHECK(store->merge(entries_of(*store))->unchanged == static_cast<int>(lines.size()));
      CHECK(lines_of(*store) == expected);
      CHECK(store->check());
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("a copy by way of entries holds the same and says the same") {
  for (int seed = 0; seed < rounds(10); ++seed) {
    const TempDir dir;
    const auto store = random_store(dir, static_cast<unsigned>(seed));
    const auto copy = must_open(dir / "copy.db");
    const auto counts = copy->merge(entries_of(*store));
    REQUIRE(counts);
    CHECK(counts->added == static_cast<int>(entries_of(*store).size()));
    CHECK(lines_of(*copy) == lines_of(*store));
    CHECK(verdicts_of(*copy) == verdicts_of(*store));
    CHECK(copy->info()->measurements == store->info()->measurements);
  }
}

TEST_CASE("merging into a store in use: what it knew stays, a later record goes on from there") {
  Sample mine;
  Sample theirs;
  REQUIRE(mine.store->record(sample_record(mine.run, 10)));
  theirs.clock.advance(std::chrono::seconds(1));
  REQUIRE(theirs.store->record(sample_record(theirs.run, 8)));
  REQUIRE(theirs.store->record(sample_record(theirs.run, 30, 1)));
  const auto counts = mine.store->merge(entries_of(*theirs.store));
  REQUIRE(counts);
  CHECK(counts->changed == 1);
  CHECK(counts->added == 1);
  const auto best = mine.store->best(sample_job().problem, {});
  CHECK((*best)->measurement->median_us == 8);
  REQUIRE(mine.store->history((*best)->id)->size() == 2);
  CHECK(mine.store->history((*best)->id)->front().median_us == 10);
  mine.clock.advance(std::chrono::seconds(2));
  REQUIRE(mine.store->record(sample_record(mine.run, 7)));
  CHECK((*mine.store->best(sample_job().problem, {}))->measurement->median_us == 7);

  // The other way round the older measurement does not become the latest.
  const auto back = theirs.store->merge(entries_of(*mine.store));
  REQUIRE(back);
  CHECK(lines_of(*theirs.store) == lines_of(*mine.store));
}

TEST_CASE("an older source that is merged later is stale") {
  Sample mine;
  Sample theirs;
  REQUIRE(theirs.store->record(sample_record(theirs.run, 5)));  // older, and faster
  mine.clock.advance(std::chrono::hours(1));
  Record newer = sample_record(mine.run, 10);
  newer.key.source_hash = "another";
  REQUIRE(mine.store->record(newer));
  REQUIRE(mine.store->merge(entries_of(*theirs.store)));
  const auto candidates = mine.store->candidates(sample_job().problem, {});
  REQUIRE(candidates->size() == 2);
  CHECK(candidates->front().key.source_hash == "another");
  CHECK_FALSE(candidates->front().stale);
  CHECK(candidates->back().stale);
  int winners = 0;
  REQUIRE(mine.store->winners(false, [&](const Winner& winner) {
    ++winners;
    CHECK(winner.kernel->source_hash == "another");
  }));
  CHECK(winners == 1);
}

TEST_CASE("one bad entry: nothing of the call is kept") {
  Sample mine;
  Sample theirs;
  REQUIRE(theirs.store->record(sample_record(theirs.run, 5)));
  auto entries = entries_of(*theirs.store);
  entries.push_back(entries.front());
  entries.back().timings.clear();
  const auto counts = mine.store->merge(entries);
  REQUIRE_FALSE(counts);
  CHECK(counts.error().kind == ErrorKind::usage);
  entries.back() = entries.front();
  entries.back().device.reset();
  CHECK_FALSE(mine.store->merge(entries));
  CHECK(lines_of(*mine.store).empty());
}

TEST_CASE("entries: filters, the best only, and one by its id") {
  Sample sample;
  Record vendor = sample_record(sample.run, 9, 7);
  vendor.key = {"cublaslt", "rank=0 algo=1", "", "130000"};
  vendor.outcome = Outcome::vendor;
  REQUIRE(sample.store->record(vendor));
  const auto slow = sample.store->record(sample_record(sample.run, 20, 1));
  const auto fast = sample.store->record(sample_record(sample.run, 10, 2));
  REQUIRE(sample.store->record(failed_record(sample.run, Outcome::spilled, 3)));
  Record other = sample_record(sample.run, 50);
  other.job.problem = make_problem({256, 256, 256});
  REQUIRE(sample.store->record(other));
  const auto count = [&](const EntryQuery& query) {
    int found = 0;
    REQUIRE(sample.store->entries(query, [&](const Entry&) { ++found; }));
    return found;
  };
  EntryQuery query;
  CHECK(count(query) == 4);
  query.filter.include_vendor = true;
  CHECK(count(query) == 5);
  query.best_only = true;
  CHECK(count(query) == 3);
  query.problem = sample_job().problem;
  CHECK(count(query) == 2);
  query.filter.strategy = "cublaslt";
  CHECK(count(query) == 1);
  query.filter.device_uuid = kOtherUuid;
  CHECK(count(query) == 0);

  const auto entry = sample.store->entry(*fast);
  REQUIRE(entry);
  CHECK((*entry)->record.key == sample_key(2));
  CHECK((*entry)->timings.front().measurement.median_us == 10);
  CHECK((*entry)->run.info.options == "--budget 10");
  CHECK((*entry)->device->device.name == "NVIDIA H200");
  CHECK(*slow != *fast);
  CHECK_FALSE(*sample.store->entry(12345));
}

}  // namespace gemmtune::store
