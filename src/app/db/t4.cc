#include "app/db/t4.h"

#include <nlohmann/json.hpp>

#include "app/common/version.h"
#include "core/json_text.h"
#include "core/tile_config.h"
#include "store/entry_json.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;
using store::Outcome;

constexpr double kMsPerUs = 1e-3;

// T4's word for what became of a candidate; nothing where it knows none.
std::optional<std::string_view> invalidity(const store::Entry& entry) {
  const bool timed = !entry.timings.empty();
  switch (entry.record.outcome) {
    case Outcome::ok:
    case Outcome::vendor:
      return timed ? std::optional<std::string_view>("correct") : std::nullopt;
    case Outcome::eliminated_early:  // verified; measuring it was given up
      return timed ? "correct" : "timeout";
    case Outcome::not_run:
      return std::nullopt;
    case Outcome::compile_failed:
      return "compile";
    case Outcome::illegal:
    case Outcome::spilled:
      return "constraints";
    case Outcome::wrong_result:
    case Outcome::out_of_bounds:
    case Outcome::unwritten:
      return "correctness";
    case Outcome::launch_failed:
      return "runtime";
  }
  return std::nullopt;
}

ordered_json configuration(const store::CandidateKey& key) {
  ordered_json json;
  json["strategy"] = key.strategy;
  const auto tile = parse_tile(key.config);
  if (!tile) {
    json["config"] = key.config;
    return json;
  }
  for (const TileField& field : tile_fields()) {
    if (const int value = (*tile).*field.member; value != 0) json[std::string(field.name)] = value;
  }
  return json;
}

ordered_json times(const store::Entry& entry) {
  ordered_json json;
  json["runtimes"] = ordered_json::array();
  if (entry.timings.empty()) return json;
  const store::Measurement& latest = entry.timings.back().measurement;
  for (const double us : latest.samples_us) json["runtimes"].push_back(us * kMsPerUs);
  if (latest.samples_us.empty()) json["runtimes"].push_back(latest.median_us * kMsPerUs);
  return json;
}

ordered_json measurements(const store::Entry& entry) {
  ordered_json list = ordered_json::array();
  const auto add = [&list](const char* name, const ordered_json& value, const char* unit) {
    list.push_back({{"name", name}, {"value", value}, {"unit", unit}});
  };
  const auto add_known = [&add](const char* name, std::optional<double> value, const char* unit) {
    if (value) add(name, *value, unit);
  };
  if (!entry.timings.empty()) {
    const store::Measurement& m = entry.timings.back().measurement;
    add("time", m.median_us * kMsPerUs, "ms");
    add("time_ci_low", m.ci_low_us * kMsPerUs, "ms");
    add("time_ci_high", m.ci_high_us * kMsPerUs, "ms");
    add("time_min", m.min_us * kMsPerUs, "ms");
    add("tflops", flops(entry.record.job.problem) / m.median_us * 1e-6, "TFLOP/s");
    add_known("sm_clock_median", m.sm_clock_median_mhz, "MHz");
    add_known("power", m.power_w, "W");
  }
  add("registers", entry.record.registers, "per thread");
  add("spill_bytes", entry.record.spill_bytes, "B");
  add("smem_bytes", entry.record.smem_bytes, "B");
  add_known("max_error", entry.record.max_error, "");
  return list;
}

}  // namespace

std::optional<ordered_json> t4_result(const store::Entry& entry) {
  const auto validity = invalidity(entry);
  if (!validity) return std::nullopt;
  const store::Record& record = entry.record;
  const bool verified = *validity == "correct" || *validity == "timeout";
  ordered_json json;
  json["timestamp"] =
      entry.timings.empty() ? record.updated_at : entry.timings.back().measurement.measured_at;
  json["configuration"] = configuration(record.key);
  json["times"] = times(entry);
  json["invalidity"] = *validity;
  json["correctness"] = verified ? 1 : 0;
  json["measurements"] = measurements(entry);
  json["objectives"] = {"time"};
  json["problem"] = key(record.job.problem);
  json["arch"] = to_string(record.job.arch);
  json["device_uuid"] =
      record.job.device_uuid.empty() ? ordered_json(nullptr) : ordered_json(record.job.device_uuid);
  json["warm"] = record.job.warm;
  if (!record.reason.empty()) json["reason"] = record.reason;
  return json;
}

T4Writer::T4Writer(std::function<void(std::string_view)> write) : write_(std::move(write)) {
  write_("{\"schema_version\":\"1.0.0\",\n\"results\":[");
}

void T4Writer::add(const store::Entry& entry) {
  const auto result = t4_result(entry);
  if (!result) {
    ++left_out_;
    return;
  }
  write_(written_ == 0 ? "\n" : ",\n");
  write_(to_text(*result, kOneLine));
  ++written_;
  if (entry.device) devices_.insert_or_assign(entry.device->device.uuid, *entry.device);
}

void T4Writer::finish() {
  ordered_json devices = ordered_json::object();
  for (const auto& [uuid, device] : devices_) devices[uuid] = store::device_json(device);
  ordered_json metadata;
  metadata["environment"]["device_query"] = std::move(devices);
  metadata["environment"]["requirements"] = {"gemm-tune " + std::string(kVersion)};
  write_("],\n\"metadata\":" + to_text(metadata, kOneLine) + "}\n");
}

}  // namespace gemmtune::app
