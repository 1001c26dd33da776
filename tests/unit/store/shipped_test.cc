// Results that come with a program.
#include "store/shipped.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

std::unique_ptr<RecordStore> open_with(const std::filesystem::path& path,
                                       const ShippedResults& shipped, bool read_only = false) {
  StoreOptions options;
  options.shipped = shipped;
  options.read_only = read_only;
  return must_open(path, options);
}

std::unique_ptr<RecordStore> open_with(const std::filesystem::path& path, const SampleSet& set) {
  return open_with(path, set.results());
}

// Another set, or one that is there: opening fails where it is read.
ShippedResults unreadable(std::string_view fingerprint) {
  return {fingerprint, "this is no database"};
}

TEST_CASE("a user's own device is another than the shipped one") {
  const TempDir dir;
  const SampleSet set("a", 1);
  const auto store = open_with(dir / "tuned.db", set);
  const auto entries = all_entries(*store);
  REQUIRE(entries);
  const int64_t run = prepare(*store);
  Record own = sample_record(run, 1e6);
  own.job.problem = entries->front().record.job.problem;
  REQUIRE(store->record(own));
  Filter filter;
  filter.device_uuid = own.job.device_uuid;
  const auto best = store->best(own.job.problem, filter);
  REQUIRE(best);
  REQUIRE(*best);
  CHECK((*best)->measurement->median_us == 1e6);
}

// What won the sample problem, on each device.
std::set<std::string> winning(RecordStore& store) {
  std::set<std::string> won;
  REQUIRE(store.winners(false, [&](const Winner& winner) {
    won.insert(std::string(winner.device_uuid) + " " + std::string(winner.kernel->config));
  }));
  return won;
}

TEST_CASE("another set takes the place of all shipped results, and of no others") {
  const TempDir dir;
  const auto path = dir / "tuned.db";
  const std::string own = std::string(kUuid) + " " + sample_key(7).config;
  {
    const auto store = open_with(path, SampleSet("a", 1));
    REQUIRE(store->record(sample_record(prepare(*store), 10, 7)));
    CHECK(winning(*store) ==
          std::set<std::string>{own, std::string(kShippedUuid) + " " + sample_key(1).config});
  }
  CHECK_FALSE(holds_other_shipped(path, "a"));
  CHECK(holds_other_shipped(path, "b"));
  constexpr bool kReadOnly = true;
  CHECK(winning(*open_with(path, unreadable("b"), kReadOnly)).size() == 2);
  CHECK_FALSE(holds_other_shipped(path, "a"));  // reading changes nothing
  const SampleSet second("b", 2);
  for (const ShippedResults& shipped : {second.results(), unreadable("b")}) {
    const auto store = open_with(path, shipped);
    CHECK(winning(*store) ==
          std::set<std::string>{own, std::string(kShippedUuid) + " " + sample_key(2).config});
    CHECK(store->info()->runs == 2);
    CHECK(store->check());
  }
  CHECK_FALSE(holds_other_shipped(path, "b"));
  CHECK(winning(*must_open(path)).size() == 2);
}

TEST_CASE("a store that never had shipped results gets them where they are wanted") {
  const TempDir dir;
  must_open(dir / "tuned.db");
  CHECK(holds_other_shipped(dir / "tuned.db", "a"));
  CHECK(winning(*open_with(dir / "tuned.db", SampleSet("a", 1))).size() == 1);
}

TEST_CASE("a set that cannot be read leaves the one before") {
  const TempDir dir;
  const auto path = dir / "tuned.db";
  open_with(path, SampleSet("a", 1));
  StoreOptions options;
  options.path = path;
  options.shipped = {"b", "this is no database"};
  CHECK_FALSE(open_store(options));
  CHECK_FALSE(holds_other_shipped(path, "a"));
  CHECK(winning(*must_open(path)).size() == 1);
}

TEST_CASE("a store that begins with a set is as one that was made otherwise and got it") {
  const TempDir dir;
  const SampleSet set("a", 1);
  open_with(dir / "begun.db", set);
  must_open(dir / "migrated.db");
  open_with(dir / "migrated.db", set);
  const auto lines = [](RecordStore& store) {
    std::vector<std::string> all;
    const auto entries = all_entries(store);
    REQUIRE(entries);
    for (const Entry& entry : *entries) all.push_back(to_line(entry));
    return all;
  };
  const auto begun = must_open(dir / "begun.db");
  const auto migrated = must_open(dir / "migrated.db");
  const auto in_memory = open_memory_store(set.results());
  REQUIRE(in_memory);
  REQUIRE(lines(*begun).size() == 1);
  CHECK(lines(*begun) == lines(*migrated));
  CHECK(lines(*begun) == lines(**in_memory));
  CHECK(winning(*begun) == winning(*migrated));
  CHECK(winning(*begun) == winning(**in_memory));
  CHECK(begun->check());
  CHECK(schema_of(dir / "begun.db") == schema_of(dir / "migrated.db"));
  // Each has a copy of its own.
  for (RecordStore* const store : {begun.get(), migrated.get(), in_memory->get()}) {
    REQUIRE(store->record(sample_record(prepare(*store), 10, 7)));
    CHECK(winning(*store).size() == 2);
  }
  CHECK(winning(**open_memory_store(set.results())).size() == 1);
}

TEST_CASE("of no other file it is said that it holds another set") {
  const TempDir dir;
  CHECK_FALSE(holds_other_shipped(dir / "none.db", "a"));
  CHECK_FALSE(holds_other_shipped(dir.path(), "a"));
  write_bytes(dir / "empty.db", "");
  CHECK_FALSE(holds_other_shipped(dir / "empty.db", "a"));
  write_bytes(dir / "text.db", "this is no database at all, just some text\n");
  CHECK_FALSE(holds_other_shipped(dir / "text.db", "a"));
}

TEST_CASE("what a running process has begun outlasts another set") {
  const TempDir dir;
  const auto path = dir / "tuned.db";
  const auto first = open_with(path, SampleSet("a", 1));
  const int64_t run = prepare(*first);  // no candidate refers to it yet
  open_with(path, SampleSet("b", 2));
  CHECK(first->record(sample_record(run, 10, 7)));
  CHECK(winning(*first).size() == 2);
}

}  // namespace
}  // namespace gemmtune::store
