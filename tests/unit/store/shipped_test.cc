// The results that come with the program.
#include "store/shipped.h"

#include <doctest/doctest.h>

#include <set>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

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
  CHECK(2 * jobs.size() == entries->size());
  int complete = 0;
  REQUIRE(store->winners(false, [&](const Winner& w) { complete += w.kernel && w.vendor; }));
  CHECK(complete == static_cast<int>(jobs.size()));
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

}  // namespace
}  // namespace gemmtune::store
