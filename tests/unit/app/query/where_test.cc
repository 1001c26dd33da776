#include "app/query/where.h"
#include "app/common/filter.h"
#include "app/query/columns.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../../contains.h"
#include "core/tile_config.h"

namespace gemmtune::app {
namespace {

store::Record make_record() {
  store::Record record;
  record.id = 7;
  record.job = {make_problem({1000, 500, 250}), {9, 0, false}, "GPU-1", false};
  record.key = {"double_buffer",
                "tile_m=128 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4", "00ff",
                "13.0"};
  record.registers = 128;
  record.smem_bytes = 32768;
  record.updated_at = "2025-01-31T00:00:00.000Z";
  store::Measurement measurement;
  measurement.median_us = 100;
  measurement.baseline_median_us = 125;
  record.measurement = measurement;
  return record;
}

DeviceNames one_device() {
  store::StoredDevice device;
  device.device.name = "NVIDIA H200";
  device.device.uuid = "GPU-1";
  return {{"GPU-1", device}};
}

bool holds(const std::string& condition, const store::Record& record = make_record()) {
  const DeviceNames devices = one_device();
  const auto parsed = parse_conditions({condition}, devices);
  CAPTURE(condition);
  if (!parsed) FAIL(parsed.error().message);
  return all_hold(*parsed, record);
}

std::string refused(const std::string& condition) {
  const DeviceNames devices = one_device();
  const auto parsed = parse_conditions({condition}, devices);
  CAPTURE(condition);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().kind == ErrorKind::usage);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("conditions on numbers") {
  for (const char* good :
       {"registers = 128", "registers==128", "registers <= 128", "registers>=128", "registers>127",
        " registers  <  129 ", "registers != 127", "median_us = 100", "median_us < 1e3",
        "ratio > 1.2", "tflops >= 2.5", "tile_m = 128", "stages = 0"}) {
    CHECK(holds(good));
  }
  for (const char* bad : {"registers != 128", "registers < 128", "registers > 128",
                          "median_us >= 100.5", "ratio < 1.25", "tile_n = 128"}) {
    CHECK_FALSE(holds(bad));
  }
}

TEST_CASE("conditions on texts and flags") {
  for (const char* good :
       {"strategy = double_buffer", "strategy ~ buffer", "strategy != split_k", "arch = sm_90",
        "device ~ H200", "outcome=ok", "provenance = measured", "updated_at >= 2025-01",
        "updated_at < 2025-02", "problem ~ 1000x500x250", "stale = false", "warm != true",
        "deterministic = true", "config ~ tile_m=128", "config ~ warp_n=32 thread_m=8"}) {
    CHECK(holds(good));
  }
  for (const char* bad :
       {"strategy = double", "strategy ~ Buffer", "arch != sm_90", "stale = true"})
    CHECK_FALSE(holds(bad));
}

TEST_CASE("what is not known fulfils no condition") {
  store::Record record = make_record();
  record.measurement.reset();
  CHECK_FALSE(holds("median_us > 0", record));
  CHECK_FALSE(holds("median_us != 5", record));
  CHECK_FALSE(holds("reason != x", record));
  record.key = {"cublaslt", "rank=0 algo=21", "", "130000"};
  CHECK_FALSE(holds("tile_m < 999", record));
  CHECK_FALSE(holds("deterministic != true", record));
}

TEST_CASE("all conditions have to hold") {
  const DeviceNames devices = one_device();
  CHECK(all_hold({}, make_record()));
  CHECK(all_hold(*parse_conditions({"registers <= 128", "arch = sm_90"}, devices), make_record()));
  CHECK_FALSE(
      all_hold(*parse_conditions({"registers <= 128", "arch = sm_80"}, devices), make_record()));
}

TEST_CASE("conditions that make no sense") {
  CHECK(contains(refused("register < 128"), "did you mean 'registers'"));
  CHECK(contains(refused("nothing < 128"), "spill_bytes"));
  CHECK(contains(refused("nothing < 128"), "thread_m"));
  for (const char* text : {"", "registers", "registers 128", "= 128", "128", "registers ! 128"})
    CHECK(contains(refused(text), "COLUMN OP VALUE"));
  CHECK(contains(refused("registers < many"), "is a number"));
  CHECK(contains(refused("registers < "), "is a number"));
  CHECK(contains(refused("registers < nan"), "is a number"));
  CHECK(contains(refused("m > n"), "is a number"));
  CHECK(contains(refused("registers ~ 12"), "~ is for texts"));
  CHECK(contains(refused("stale = yes"), "true or false"));
  CHECK(contains(refused("stale < true"), "true or false"));
}

TEST_CASE("every tile parameter is a column, and no name is there twice") {
  const DeviceNames devices;
  std::vector<std::string> names;
  for (const RecordColumn& column : record_columns(devices)) names.push_back(column.name);
  for (const TileField& field : tile_fields())
    CHECK(std::count(names.begin(), names.end(), std::string(field.name)) == 1);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace gemmtune::app
