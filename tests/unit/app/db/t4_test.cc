#include "app/db/t4.h"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace gemmtune::app {
namespace {

using nlohmann::json;
using store::Outcome;

store::Entry make_entry(Outcome outcome, bool timed) {
  store::Entry entry;
  entry.record.job = {make_problem({1000, 1000, 1000}), {9, 0, false}, "GPU-1", false};
  entry.record.key = {"double_buffer", "tile_m=128 tile_n=64", "00ff", "13.0"};
  entry.record.outcome = outcome;
  entry.record.updated_at = "2025-01-31T00:00:00.000Z";
  entry.device.emplace();
  entry.device->device.uuid = "GPU-1";
  if (timed) {
    store::Timing older;
    older.measurement.median_us = 300;
    store::Timing latest;
    latest.measurement.median_us = 200;
    latest.measurement.samples_us = {190, 200, 210};
    latest.measurement.measured_at = "2025-02-01T00:00:00.000Z";
    entry.timings = {older, latest};
  }
  return entry;
}

// T4's word, or "" for a candidate that is left out.
std::string invalidity(Outcome outcome, bool timed = false) {
  const auto result = t4_result(make_entry(outcome, timed));
  return result ? (*result)["invalidity"].get<std::string>() : "";
}

}  // namespace

TEST_CASE("every outcome has its word in T4, or is left out") {
  CHECK(invalidity(Outcome::ok, true) == "correct");
  CHECK(invalidity(Outcome::vendor, true) == "correct");
  CHECK(invalidity(Outcome::eliminated_early, true) == "correct");
  CHECK(invalidity(Outcome::eliminated_early) == "timeout");
  CHECK(invalidity(Outcome::ok).empty());  // predicted
  CHECK(invalidity(Outcome::not_run).empty());
  CHECK(invalidity(Outcome::compile_failed) == "compile");
  CHECK(invalidity(Outcome::illegal) == "constraints");
  CHECK(invalidity(Outcome::spilled) == "constraints");
  CHECK(invalidity(Outcome::wrong_result) == "correctness");
  CHECK(invalidity(Outcome::out_of_bounds) == "correctness");
  CHECK(invalidity(Outcome::unwritten) == "correctness");
  CHECK(invalidity(Outcome::launch_failed) == "runtime");
}

TEST_CASE("a T4 result is the latest timing, in milliseconds") {
  const auto result = t4_result(make_entry(Outcome::ok, true));
  REQUIRE(result);
  CHECK((*result)["timestamp"] == "2025-02-01T00:00:00.000Z");
  CHECK((*result)["times"]["runtimes"].size() == 3);
  CHECK((*result)["times"]["runtimes"][0].get<double>() == doctest::Approx(0.19));
  std::map<std::string, double> values;
  for (const auto& measurement : (*result)["measurements"])
    values[measurement["name"]] = measurement["value"];
  CHECK(values["time"] == doctest::Approx(0.2));
  CHECK(values["tflops"] == doctest::Approx(10));
  CHECK_FALSE(values.contains("power"));  // not known
  CHECK((*result)["configuration"]["tile_n"] == 64);
}

TEST_CASE("of a timing whose samples are not kept T4 has the median") {
  store::Entry entry = make_entry(Outcome::ok, true);
  entry.timings.back().measurement.samples_us.clear();
  const auto result = t4_result(entry);
  REQUIRE(result);
  REQUIRE((*result)["times"]["runtimes"].size() == 1);
  CHECK((*result)["times"]["runtimes"][0].get<double>() == doctest::Approx(0.2));
}

TEST_CASE("a vendor's algorithm is a configuration, too") {
  store::Entry entry = make_entry(Outcome::vendor, true);
  entry.record.key = {"cublaslt", "rank=0 algo=21", "", "130000"};
  const auto result = t4_result(entry);
  REQUIRE(result);
  CHECK((*result)["configuration"]["strategy"] == "cublaslt");
  CHECK((*result)["configuration"]["config"] == "rank=0 algo=21");
}

TEST_CASE("a T4 document is JSON, with and without results") {
  for (const int count : {0, 1, 3}) {
    std::string text;
    T4Writer writer([&](std::string_view piece) { text += piece; });
    for (int i = 0; i < count; ++i) writer.add(make_entry(Outcome::ok, true));
    writer.add(make_entry(Outcome::not_run, false));
    writer.finish();
    CHECK(writer.written() == count);
    CHECK(writer.left_out() == 1);
    const json document = json::parse(text);
    CHECK(document["schema_version"] == "1.0.0");
    CHECK(document["results"].size() == static_cast<size_t>(count));
    CHECK(document["metadata"]["environment"]["device_query"].size() == (count > 0 ? 1 : 0));
  }
}

}  // namespace gemmtune::app
