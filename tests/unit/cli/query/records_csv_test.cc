#include "cli/query/records_csv.h"
#include "app/common/filter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../../contains.h"
#include "cli/common/csv.h"

namespace gemmtune::cli {
namespace {

store::Record listed_record() {
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

app::DeviceNames listed_device() {
  store::StoredDevice device;
  device.device.name = "NVIDIA H200";
  device.device.uuid = "GPU-1";
  return {{"GPU-1", device}};
}

}  // namespace

TEST_CASE("CSV") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("\r") == "\"\r\"");
  store::Record record = listed_record();
  record.reason = "no, \"because\"";
  const std::string csv = records_csv({record, record}, listed_device());
  CHECK(csv.starts_with("id,problem,m,n,k,dtype,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK(contains(csv, "\n7,f32/f32/ieee/ttt/1000x500x250,1000,500,250,f32,"));
  CHECK(contains(csv, ",\"no, \"\"because\"\"\","));
  CHECK(contains(csv, ",NVIDIA H200,GPU-1,false,measured,ok,"));
  CHECK(contains(csv, ",,"));  // what is not known
  CHECK(records_csv({}, {}) == csv.substr(0, csv.find('\n') + 1));
}

}  // namespace gemmtune::cli
