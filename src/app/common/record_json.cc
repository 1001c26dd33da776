#include "app/common/record_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "gpu/nvml.h"
#include "tuner/session/candidate.h"

namespace gemmtune::cli {
namespace {

// " as an RTX 4090"; empty where the model was not recorded.
std::string model_text(const store::Record& record, const DeviceNames& devices) {
  const auto found = devices.find(record.job.device_uuid);
  return found == devices.end() ? "" : " as " + with_article(found->second.device.name);
}

}  // namespace

using nlohmann::ordered_json;

ordered_json to_json(const Problem& p) {
  ordered_json json;
  json["m"] = p.shape.m;
  json["n"] = p.shape.n;
  json["k"] = p.shape.k;
  json["dtype"] = to_string(p.type);
  json["acc"] = to_string(p.accumulator);
  json["math"] = to_string(p.math);
  json["layout"] = to_string(p.layout);
  json["lda"] = p.lda;
  json["ldb"] = p.ldb;
  json["ldc"] = p.ldc;
  json["batch"] = p.batch;
  if (p.batch > 1) {
    json["stride_a"] = p.stride_a;
    json["stride_b"] = p.stride_b;
    json["stride_c"] = p.stride_c;
  }
  json["align"] = p.align_bytes;
  return json;
}

ordered_json to_json(const Device& device) {
  ordered_json json;
  json["name"] = device.name;
  json["uuid"] = device.uuid;
  json["arch"] = to_string(device.arch);
  json["sm_count"] = device.sm_count;
  json["memory_bytes"] = device.memory_bytes;
  json["l2_bytes"] = device.l2_bytes;
  json["driver_version"] = device.driver_version;
  return json;
}

ordered_json to_json(const store::Measurement& m) {
  ordered_json json;
  json["median_us"] = m.median_us;
  json["ci_low_us"] = m.ci_low_us;
  json["ci_high_us"] = m.ci_high_us;
  json["min_us"] = m.min_us;
  json["sample_count"] = m.sample_count;
  json["sm_clock_min_mhz"] = or_null(m.sm_clock_min_mhz);
  json["sm_clock_median_mhz"] = or_null(m.sm_clock_median_mhz);
  json["power_w"] = or_null(m.power_w);
  json["throttle_reasons"] = gpu::throttle_reason_names(m.throttle_reasons);
  json["baseline_median_us"] = or_null(m.baseline_median_us);
  json["final_round"] = m.final_round;
  json["measured_at"] = m.measured_at;
  return json;
}

ordered_json to_json(const store::Record& record) {
  ordered_json json;
  json["id"] = record.id;
  json["problem"] = to_json(record.job.problem);
  json["arch"] = to_string(record.job.arch);
  json["device_uuid"] =
      record.job.device_uuid.empty() ? ordered_json(nullptr) : ordered_json(record.job.device_uuid);
  json["warm"] = record.job.warm;
  json["provenance"] = to_string(record.provenance);
  json["outcome"] = to_string(record.outcome);
  json["reason"] = record.reason;
  json["strategy"] = record.key.strategy;
  json["config"] = record.key.config;
  json["deterministic"] = or_null(deterministic(record));
  json["source_hash"] = record.key.source_hash;
  json["compiler_version"] = record.key.compiler_version;
  json["stale"] = record.stale;
  const auto time = time_us(record);
  json["time_us"] = or_null(time);
  json["tflops"] = time ? ordered_json(tflops(record.job.problem, *time)) : ordered_json(nullptr);
  json["predicted_us"] = or_null(record.predicted_us);
  json["registers"] = record.registers;
  json["spill_bytes"] = record.spill_bytes;
  json["smem_bytes"] = record.smem_bytes;
  json["max_error"] = or_null(record.max_error);
  json["vendor_max_error"] = or_null(record.vendor_max_error);
  json["measurement"] = record.measurement ? to_json(*record.measurement) : ordered_json(nullptr);
  json["updated_at"] = record.updated_at;
  return json;
}

ordered_json to_json(const std::optional<store::Record>& record) {
  return record ? to_json(*record) : ordered_json(nullptr);
}

std::optional<double> time_us(const store::Record& record) {
  if (record.measurement) return record.measurement->median_us;
  return record.predicted_us;
}

double tflops(const Problem& problem, double microseconds) {
  return flops(problem) / microseconds * 1e-6;
}

std::string time_cell(const std::optional<double>& microseconds) {
  if (!microseconds) return "-";
  return fmt::format("{:.{}f}", *microseconds, *microseconds < 100 ? 2 : 1);
}

std::string tflops_cell(const store::Record& record) {
  const auto time = time_us(record);
  return time ? fmt::format("{:.2f}", tflops(record.job.problem, *time)) : "-";
}

std::string config_cell(const store::Record& record) {
  const auto tile = parse_tile(record.key.config);
  if (!tile) return record.key.strategy + " " + record.key.config;
  std::string text = config_text(record.key.strategy, *tile);
  return deterministic(record).value_or(true) ? text : text + ", non-deterministic";
}

std::string config_text(std::string_view strategy, const TileConfig& tile) {
  std::string text(strategy);
  const auto add = [&text](std::string_view separator, std::vector<int> sizes) {
    std::erase(sizes, 0);  // what the strategy has no such size for
    if (!sizes.empty()) text += fmt::format("{}{}", separator, fmt::join(sizes, "x"));
  };
  add(" ", {tile.tile_m, tile.tile_n, tile.tile_k});
  add("/", {tile.warp_m, tile.warp_n});
  add("/", {tile.thread_m, tile.thread_n});
  // What the sizes leave out, by name.
  for (const TileField& field : tile_fields()) {
    const bool is_size = field.name.starts_with("tile_") || field.name.starts_with("warp_") ||
                         field.name.starts_with("thread_");
    const int value = tile.*field.member;
    if (!is_size && value != 0) text += fmt::format(" {}={}", field.name, value);
  }
  return text;
}

std::optional<bool> deterministic(const store::Record& record) {
  const auto spec = tuner::kernel_of(record);
  if (!spec) return std::nullopt;
  return spec->strategy->deterministic(*spec);
}

std::string provenance_text(const store::Record& record, const DeviceNames& devices) {
  switch (record.provenance) {
    case store::Provenance::measured:
      return "measured on " + device_name(devices, record.job.device_uuid);
    case store::Provenance::transferred:
      return "transferred from another device";
    case store::Provenance::predicted:
      return fmt::format("predicted for {}{}; nothing was measured", to_string(record.job.arch),
                         model_text(record, devices));
  }
  return "";
}

std::string throttle_text(uint64_t reasons) {
  return fmt::format("{}", fmt::join(gpu::throttle_reason_names(reasons), ", "));
}

}  // namespace gemmtune::cli
