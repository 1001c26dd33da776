#include "app/query/diff.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace gemmtune::app {
namespace {

store::Record make_record(int64_t m, double median_us, const char* config = "tile_m=128") {
  store::Record record;
  record.job = {make_problem({m, 64, 64}), {9, 0, false}, "GPU-1", false};
  record.key = {"double_buffer", config, "00ff", "13.0"};
  store::Measurement measurement;
  measurement.median_us = median_us;
  record.measurement = measurement;
  return record;
}

store::Record predicted(store::Record record, double us) {
  record.provenance = store::Provenance::predicted;
  record.measurement.reset();
  record.predicted_us = us;
  return record;
}

}  // namespace

TEST_CASE("jobs of both are compared, what got slower first") {
  store::Record warm = make_record(4, 10);
  warm.job.warm = true;
  store::Record other_gpu = make_record(4, 10);
  other_gpu.job.device_uuid = "GPU-2";
  const std::vector<store::Record> a = {make_record(1, 10), make_record(2, 10), make_record(3, 10),
                                        make_record(4, 10), predicted(make_record(5, 0), 10)};
  const std::vector<store::Record> b = {make_record(1, 5, "tile_m=64"),
                                        make_record(2, 20),
                                        make_record(3, 10),
                                        warm,
                                        other_gpu,
                                        make_record(5, 1)};
  const StoreDiff diff = compare_records(a, b, 0);
  REQUIRE(diff.rows.size() == 4);
  CHECK(diff.rows[0].a.job.problem.shape.m == 2);
  CHECK(diff.rows[0].ratio == doctest::Approx(0.5));
  CHECK_FALSE(diff.rows[0].winner_changed);
  CHECK(diff.rows[1].ratio == doctest::Approx(1));
  CHECK(diff.rows[2].ratio == doctest::Approx(2));
  CHECK(diff.rows[2].winner_changed);
  CHECK_FALSE(diff.rows[3].ratio);  // a prediction against a measurement
  REQUIRE(diff.only_a.size() == 1);
  CHECK(diff.only_a[0].job.problem.shape.m == 4);
  CHECK(diff.only_b.size() == 2);
  CHECK(diff.within_threshold == 0);

  const auto json = nlohmann::json::parse(diff_json(diff));
  REQUIRE(json["rows"].size() == 4);
  CHECK(json["rows"][2]["winner_changed"] == true);
  CHECK(json["rows"][3]["ratio"].is_null());
  CHECK(json["rows"][0]["b"]["time_us"] == 20);
}

TEST_CASE("a threshold leaves out small differences, both ways") {
  const std::vector<store::Record> a = {make_record(1, 100), make_record(2, 100),
                                        make_record(3, 100), predicted(make_record(4, 0), 100)};
  const std::vector<store::Record> b = {make_record(1, 102), make_record(2, 98),
                                        make_record(3, 104), make_record(4, 100)};
  const StoreDiff diff = compare_records(a, b, 3);
  CHECK(diff.within_threshold == 2);
  REQUIRE(diff.rows.size() == 2);
  CHECK(diff.rows[0].a.job.problem.shape.m == 3);
  CHECK(compare_records(a, b, 0).rows.size() == 4);
}

TEST_CASE("nothing to compare") {
  CHECK(compare_records({}, {}, 0).rows.empty());
  CHECK(compare_records({make_record(1, 1)}, {}, 0).only_a.size() == 1);
}

}  // namespace gemmtune::app
