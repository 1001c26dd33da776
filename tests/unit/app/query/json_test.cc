// What results look like as JSON.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/common/filter.h"
#include "app/common/record_json.h"
#include "app/query/list.h"
#include "app/query/query.h"
#include "app/query/show.h"
#include "app/tune/tune.h"
#include "codegen/strategy.h"
#include "core/arch.h"

namespace gemmtune::app {
namespace {

using nlohmann::json;

store::Record json_record(double median_us) {
  store::Record record;
  record.id = 7;
  record.job = {make_problem({1000, 1000, 1000}), {9, 0, false}, "GPU-1", false};
  record.key = {"double_buffer",
                "tile_m=128 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 order=2",
                "00ff", "13.0"};
  store::Measurement measurement;
  measurement.median_us = median_us;
  measurement.sample_count = 7;
  record.measurement = measurement;
  return record;
}

DeviceNames json_devices() {
  store::StoredDevice device;
  device.device.name = "NVIDIA H200";
  device.device.uuid = "GPU-1";
  return {{"GPU-1", device}};
}

json parsed(const store::Record& record) {
  return json::parse(to_json(record).dump());
}

}  // namespace

TEST_CASE("JSON of what was predicted has no measurement") {
  store::Record record = json_record(1);
  record.measurement.reset();
  record.predicted_us = 50;
  record.provenance = store::Provenance::predicted;
  record.job.device_uuid.clear();
  CHECK(parsed(record)["provenance"] == "predicted");
  CHECK(parsed(record)["measurement"].is_null());
  CHECK(parsed(record)["device_uuid"].is_null());
  CHECK(parsed(record)["time_us"] == 50);
}

TEST_CASE("JSON says what may round differently from run to run, null for what is not ours") {
  const std::string tile =
      "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 slices=4";
  store::Record record = json_record(100);
  record.key = {"split_k", tile, "00ff", "13.0"};
  CHECK(parsed(record)["deterministic"] == true);
  record.key.config = tile + " reduction=1";  // atomic
  CHECK(parsed(record)["deterministic"] == false);
  record.key = {"cublaslt", "rank=0", "", "130000"};
  CHECK(parsed(record)["deterministic"].is_null());
}

TEST_CASE(
    "JSON of a problem has its epilogue and the type of C where they are not the usual ones") {
  store::Record record = json_record(100);
  CHECK_FALSE(parsed(record)["problem"].contains("out"));
  CHECK_FALSE(parsed(record)["problem"].contains("epilogue"));
  record.job.problem = make_problem({8, 8, 8}, DataType::bf16);
  record.job.problem.result = DataType::f32;
  record.job.problem.epilogue = {kBiasPerColumn, kGeluTanh};
  CHECK(parsed(record)["problem"]["out"] == "f32");
  CHECK(parsed(record)["problem"]["epilogue"] == "bias,gelu");
}

TEST_CASE("JSON of a query has the vendor beside the best") {
  QueryAnswer answer;
  answer.problem = make_problem({1000, 1000, 1000});
  answer.devices = json_devices();
  answer.results.push_back({json_record(100), json_record(110), json_record(90)});
  const json result = json::parse(query_json(answer))["results"][0];
  CHECK(result["device"] == "NVIDIA H200");
  CHECK(result["vendor_best"]["time_us"] == 90);
}

TEST_CASE("JSON of a tuning has its results and what was skipped") {
  TunedProblem tuned;
  tuned.wanted.text = "some problem";
  tuned.report.emplace();
  tuned.report->ranking = {json_record(100)};
  tuned.report->failures = {{"spilled", 3}};
  TunedProblem skipped;
  skipped.wanted.text = "other";
  skipped.skipped = "because";
  TuneSummary summary;
  summary.problems = {tuned, skipped};
  const json all = json::parse(tune_json(summary));
  CHECK(all["results"].size() == 1);
  CHECK(all["results"][0]["failures"]["spilled"] == 3);
  CHECK(all["results"][0]["margin"].is_null());
  CHECK(all["skipped"][0]["reason"] == "because");
}

TEST_CASE("JSON of a tuning says what the intervals leave open of how much faster it is") {
  TunedProblem tuned;
  tuned.report.emplace();
  store::Record own = json_record(100);
  own.measurement->ci_low_us = 99;
  own.measurement->ci_high_us = 102;
  store::Record vendor = json_record(110);
  vendor.measurement->ci_low_us = 108;
  vendor.measurement->ci_high_us = 111;
  tuned.report->ranking = {own};
  tuned.report->vendor.best = vendor;
  TuneSummary summary;
  summary.problems = {tuned};
  const json margin = json::parse(tune_json(summary))["results"][0]["margin"];
  CHECK(margin["ratio"].get<double>() == doctest::Approx(110.0 / 100));
  CHECK(margin["low"].get<double>() == doctest::Approx(108.0 / 102));
  CHECK(margin["high"].get<double>() == doctest::Approx(111.0 / 99));
}

TEST_CASE("JSON of a candidate has every measurement") {
  ShownRecord shown;
  shown.record = json_record(100);
  shown.history = {{*json_record(101).measurement, {}}, {*json_record(100).measurement, {}}};
  CHECK(json::parse(show_json(shown))["history"].size() == 2);
}

TEST_CASE("JSON of lists is complete") {
  CHECK(json::parse(strategies_json())["strategies"].size() == codegen::strategies().size());
  CHECK(json::parse(archs_json())["archs"].size() == known_archs().size());
  CHECK(json::parse(devices_json({}))["known"].size() == known_devices().size());
  CHECK(json::parse(problems_json({}))["problems"].empty());
}

}  // namespace gemmtune::app
