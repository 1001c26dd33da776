// The results that come with the program.
#include "store/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

// Beside these two only the time of an algorithm that programs get something faster for.
TEST_CASE(
    "what is shipped can be merged, and every problem has an own kernel and a vendor's time") {
  const auto entries = shipped_entries();
  REQUIRE_MESSAGE(entries.has_value(), entries.error().message);
  REQUIRE(entries->size() > 20);
  const TempDir dir;
  const auto store = must_open(dir / "tuned.db");
  const auto counts = store->merge(*entries);
  REQUIRE(counts);
  CHECK(counts->added == static_cast<int>(entries->size()));
  std::set<std::string> jobs;
  for (const Entry& entry : *entries) {
    CAPTURE(to_line(entry));
    REQUIRE(entry.device);
    CHECK(entry.device->device.uuid.starts_with("shipped-"));
    CHECK(entry.record.provenance == Provenance::measured);
    if (entry.record.outcome == Outcome::ok) {
      CHECK(entry.timings.back().measurement.final_round);
    }
    jobs.insert(entry.device->device.uuid + " " + key(entry.record.job.problem));
  }
  size_t complete = 0;
  size_t firsts = 0;
  REQUIRE(store->winners(false, [&](const Winner& w) {
    REQUIRE((w.kernel && w.vendor));
    ++complete;
    if (w.vendor->config.starts_with("rank=0 ") || w.vendor->first_us == 0) return;
    ++firsts;
    CAPTURE(w.problem);
    CHECK(w.vendor->time_us < 1.01 * w.kernel->rank_us);
    CHECK(w.vendor->first_us >= 1.01 * std::min(w.kernel->rank_us, w.vendor->time_us));
  }));
  CHECK(complete == jobs.size());
  CHECK(2 * complete + firsts == entries->size());
}

TEST_CASE("a user's own device is another than the shipped one") {
  const TempDir dir;
  const auto store = must_open(dir / "tuned.db");
  const auto entries = shipped_entries();
  REQUIRE(store->merge(*entries));
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

std::unique_ptr<RecordStore> open_with(const std::filesystem::path& path,
                                       const ShippedResults& shipped, bool read_only = false) {
  StoreOptions options;
  options.shipped = shipped;
  options.read_only = read_only;
  return must_open(path, options);
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
    const auto store = open_with(path, sample_set("a", 1));
    REQUIRE(store->record(sample_record(prepare(*store), 10, 7)));
    CHECK(winning(*store) ==
          std::set<std::string>{own, std::string(kShippedUuid) + " " + sample_key(1).config});
  }
  CHECK_FALSE(holds_other_shipped(path, "a"));
  CHECK(holds_other_shipped(path, "b"));
  int asked = 0;
  ShippedResults second = sample_set("b", 2);
  second.entries = [&asked, entries = second.entries] {
    ++asked;
    return entries();
  };
  CHECK(winning(*open_with(path, second, true)).size() == 2);  // reading changes nothing
  CHECK(asked == 0);
  for (int time = 0; time < 2; ++time) {
    const auto store = open_with(path, second);
    CHECK(winning(*store) ==
          std::set<std::string>{own, std::string(kShippedUuid) + " " + sample_key(2).config});
    CHECK(store->info()->runs == 2);
    CHECK(store->check());
    CHECK(asked == 1);
  }
  CHECK_FALSE(holds_other_shipped(path, "b"));
  CHECK(winning(*must_open(path)).size() == 2);
}

TEST_CASE("a store that never had shipped results gets them where they are wanted") {
  const TempDir dir;
  must_open(dir / "tuned.db");
  CHECK(holds_other_shipped(dir / "tuned.db", "a"));
  CHECK(winning(*open_with(dir / "tuned.db", sample_set("a", 1))).size() == 1);
}

TEST_CASE("a set that cannot be read leaves the one before") {
  const TempDir dir;
  const auto path = dir / "tuned.db";
  open_with(path, sample_set("a", 1));
  StoreOptions options;
  options.path = path;
  options.shipped = {"b", []() -> Expected<std::vector<Entry>> {
                       return make_error(ErrorKind::failed, "for a test");
                     }};
  CHECK_FALSE(open_store(options));
  CHECK_FALSE(holds_other_shipped(path, "a"));
  CHECK(winning(*must_open(path)).size() == 1);
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
  const auto first = open_with(path, sample_set("a", 1));
  const int64_t run = prepare(*first);  // no candidate refers to it yet
  open_with(path, sample_set("b", 2));
  CHECK(first->record(sample_record(run, 10, 7)));
  CHECK(winning(*first).size() == 2);
}

}  // namespace
}  // namespace gemmtune::store
