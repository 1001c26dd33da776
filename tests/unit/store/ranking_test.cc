// Which candidate is the best where some were timed in a final round and others only in a search.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

constexpr int kFinalist = 1;  // sample_key of what was timed in the final round

Record timed(int64_t run, double median_us, int number, bool final_round) {
  Record record = sample_record(run, median_us, number);
  record.measurement->final_round = final_round;
  return record;
}

// The number of the candidate that every way to ask for the best names.
int best_number(Sample& sample) {
  const auto best = sample.store->best(sample_job().problem, {});
  REQUIRE(best);
  REQUIRE(best->has_value());
  const CandidateKey key = (*best)->key;
  CHECK(sample.store->candidates(sample_job().problem, {})->front().key == key);
  const auto list = sample.store->list({}, ListOrder::by_time);
  REQUIRE(list->size() == 1);
  CHECK(list->front().key == key);
  const auto near = sample.store->near(make_problem({256, 256, 256}), {}, 1);
  REQUIRE(near->size() == 1);
  CHECK(near->front().record.key == key);
  EntryQuery best_only;
  best_only.best_only = true;
  REQUIRE(sample.store->entries(best_only, [&](const Entry& e) { CHECK(e.record.key == key); }));
  SQLite::Database database(sample.path().string());
  CHECK(database.execAndGet("SELECT config FROM best_configs").getString() == key.config);
  // From the candidates, then from the table.
  for (int time = 0; time < 2; ++time) {
    REQUIRE(sample.store->winners(false, [&](const Winner& winner) {
      REQUIRE(winner.kernel);
      CHECK(winner.kernel->config == key.config);
      CHECK(winner.kernel->time_us == (*best)->measurement->median_us);
      const double factor = (*best)->measurement->final_round ? 1 : 1.5;
      CHECK(winner.kernel->rank_us == doctest::Approx(winner.kernel->time_us * factor));
    }));
    REQUIRE(sample.store->update_winners());
  }
  for (int number = 0; number < 4; ++number) {
    if (key == sample_key(number)) return number;
  }
  return -1;
}

Record vendor_timed(int64_t run, const std::string& config, double median_us,
                    const std::string& version = "130099") {
  Record record = timed(run, median_us, 1, true);
  record.key = {"cublaslt", config, "", version};
  record.outcome = Outcome::vendor;
  return record;
}

TEST_CASE("a winner says what the heuristic's first algorithm of the same version takes") {
  Sample sample;
  const auto first_us = [&] {
    double us = -1;
    // From the candidates, then from the table.
    for (int time = 0; time < 2; ++time) {
      REQUIRE(sample.store->winners(false, [&](const Winner& winner) {
        REQUIRE(winner.vendor);
        CHECK((time == 0 || winner.vendor->first_us == us));
        us = winner.vendor->first_us;
      }));
      REQUIRE(sample.store->update_winners());
    }
    return us;
  };
  REQUIRE(sample.store->record(vendor_timed(sample.run, "rank=10 algo=3", 10)));
  CHECK(first_us() == 0);
  REQUIRE(sample.store->record(vendor_timed(sample.run, "rank=0 algo=9", 15, "120000")));
  CHECK(first_us() == 0);
  REQUIRE(sample.store->record(vendor_timed(sample.run, "rank=0 algo=1", 12)));
  CHECK(first_us() == 12);
  // What it named first before, with another driver.
  REQUIRE(sample.store->record(vendor_timed(sample.run, "rank=0 algo=2", 13)));
  CHECK(first_us() == 13);
  REQUIRE(sample.store->record(vendor_timed(sample.run, "rank=0 algo=2", 9)));
  CHECK(first_us() == 9);
}

TEST_CASE("a time of a kernel that started early counts 1 us more") {
  Sample sample;
  Record early = timed(sample.run, 99.1, 1, true);
  early.measurement->started_early = true;
  REQUIRE(sample.store->record(early));
  REQUIRE(sample.store->record(timed(sample.run, 100, 2, true)));
  CHECK((*sample.store->best(sample_job().problem, {}))->key == sample_key(2));
  early = timed(sample.run, 98.9, 1, true);
  early.measurement->started_early = true;
  REQUIRE(sample.store->record(early));
  CHECK((*sample.store->best(sample_job().problem, {}))->key == sample_key(1));
}

TEST_CASE("the winner of a final round loses only to what is clearly faster") {
  Sample sample;
  REQUIRE(sample.store->record(timed(sample.run, 95, kFinalist, false)));
  REQUIRE(sample.store->record(timed(sample.run, 100, kFinalist, true)));
  // As much faster as a card's clock at its power limit is lower.
  REQUIRE(sample.store->record(timed(sample.run, 73, 2, false)));
  CHECK(best_number(sample) == kFinalist);
  REQUIRE(sample.store->record(timed(sample.run, 60, 3, false)));
  CHECK(best_number(sample) == 3);
  // The same in its own final round.
  REQUIRE(sample.store->record(timed(sample.run, 101, 3, true)));
  CHECK(best_number(sample) == kFinalist);
  // The latest measurement counts, also where it is not of a final round.
  REQUIRE(sample.store->record(timed(sample.run, 99, kFinalist, false)));
  CHECK(best_number(sample) == 3);
}

TEST_CASE("searched candidates only: the fastest of them") {
  Sample sample;
  REQUIRE(sample.store->record(timed(sample.run, 100, 1, false)));
  CHECK(best_number(sample) == 1);
  REQUIRE(sample.store->record(timed(sample.run, 90, 2, false)));
  CHECK(best_number(sample) == 2);
}

TEST_CASE("the vendor's algorithms are ranked alike; predictions count as they are") {
  Sample sample;
  Record vendor = timed(sample.run, 98, 0, true);
  vendor.key = {"cublaslt", "rank=0 algo=1", "", "130000"};
  vendor.outcome = Outcome::vendor;
  REQUIRE(sample.store->record(vendor));
  REQUIRE(sample.store->record(timed(sample.run, 97, 1, false)));
  Record predicted = timed(sample.run, 1, 2, false);
  predicted.provenance = Provenance::predicted;
  predicted.measurement.reset();
  REQUIRE(sample.store->record(predicted));
  Filter filter;
  filter.include_vendor = true;
  CHECK((*sample.store->best(sample_job().problem, filter))->outcome == Outcome::vendor);
  REQUIRE(sample.store->record(timed(sample.run, 97, 1, true)));
  CHECK((*sample.store->best(sample_job().problem, filter))->key == sample_key(1));
  SQLite::Database database(sample.path().string());
  SQLite::Statement ranks(database,
                          "SELECT time_us, rank_us FROM candidates_view WHERE outcome = 'vendor' "
                          "OR provenance = 'predicted'");
  int rows = 0;
  for (; ranks.executeStep(); ++rows)
    CHECK(ranks.getColumn("time_us").getDouble() == ranks.getColumn("rank_us").getDouble());
  CHECK(rows == 2);
}

TEST_CASE("the vendor's best is the one of the final round, too") {
  Sample sample;
  REQUIRE(sample.store->record(timed(sample.run, 95, 1, true)));
  const auto record_vendor = [&](double us, std::string config, bool final_round) {
    Record vendor = timed(sample.run, us, 0, final_round);
    vendor.key = {"cublaslt", std::move(config), "", "130000"};
    vendor.outcome = Outcome::vendor;
    REQUIRE(sample.store->record(vendor));
  };
  record_vendor(100, "rank=0 algo=1", true);
  record_vendor(90, "rank=3 algo=2", false);
  SQLite::Database database(sample.path().string());
  const auto vendor_us = [&] {
    return database.execAndGet("SELECT vendor_time_us FROM best_configs").getDouble();
  };
  CHECK(vendor_us() == 100);
  record_vendor(60, "rank=4 algo=3", false);
  CHECK(vendor_us() == 60);
}

TEST_CASE("what is the best is not pruned") {
  Sample sample;
  REQUIRE(sample.store->record(timed(sample.run, 100, kFinalist, true)));
  REQUIRE(sample.store->record(timed(sample.run, 90, 2, false)));
  PruneRequest request;
  request.not_since = "2030-01-01T00:00:00.000Z";
  CHECK(sample.store->prune(request)->candidates == 1);
  CHECK(best_number(sample) == kFinalist);
}

}  // namespace
}  // namespace gemmtune::store
