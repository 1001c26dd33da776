#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/render_record.h"
#include "cli/show.h"
#include "cli/table.h"

namespace gemmtune::cli {
namespace {

constexpr auto kRight = Table::Align::right;

std::string line(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<14} {}\n", name, value);
}

std::string error_text(const std::optional<double>& error) {
  return error ? fmt::format("{:.3e}", *error) : "";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

std::string history_table(const ShownRecord& shown) {
  Table table({{"measured at"},
               {"median us", kRight},
               {"95% interval"},
               {"min us", kRight},
               {"samples", kRight},
               {"SM MHz", kRight},
               {"W", kRight},
               {"incumbent us", kRight},
               {"throttled by"}});
  for (const store::Measurement& m : shown.history) {
    table.add({m.measured_at, time_cell(m.median_us),
               fmt::format("{} .. {}", time_cell(m.ci_low_us), time_cell(m.ci_high_us)),
               time_cell(m.min_us), std::to_string(m.sample_count), number(m.sm_clock_median_mhz),
               number(m.power_w), time_cell(m.baseline_median_us),
               throttle_text(m.throttle_reasons)});
  }
  return table.text();
}

}  // namespace

std::string show_text(const ShownRecord& shown) {
  const store::Record& r = shown.record;
  std::string text = line("id", std::to_string(r.id));
  text += line("problem", key(r.job.problem));
  text += line("arch", to_string(r.job.arch));
  text += line("device", r.job.device_uuid.empty()
                             ? "none"
                             : fmt::format("{} ({})", device_name(shown.devices, r.job.device_uuid),
                                           r.job.device_uuid));
  text += line("operands", r.job.warm ? "in cache" : "in memory");
  text += line("strategy", r.key.strategy);
  text += line("config", r.key.config);
  if (const auto same = deterministic(r))
    text += line("deterministic", *same ? "yes" : "no: two runs may round differently");
  text += line("source", r.key.source_hash);
  text += line("compiler", r.key.compiler_version);
  text += line("outcome", std::string(store::to_string(r.outcome)));
  text += line("reason", r.reason);
  text += line("provenance", provenance_text(r, shown.devices));
  text += line("state", r.stale ? "stale: tried again with another source or compiler" : "current");
  text += line("time us", time_cell(time_us(r)));
  text += line("TFLOP/s", tflops_cell(r));
  text += line("predicted us", r.predicted_us ? time_cell(r.predicted_us) : "");
  text += line("registers", fmt::format("{} a thread, {} B spilled", r.registers, r.spill_bytes));
  text += line("shared memory", fmt::format("{} B a block", r.smem_bytes));
  text += line("error", error_text(r.max_error));
  text += line("vendor error", error_text(r.vendor_max_error));
  text += line("updated", r.updated_at);
  if (!shown.history.empty()) text += "\n" + history_table(shown);
  return text;
}

std::string show_json(const ShownRecord& shown) {
  nlohmann::ordered_json json = to_json(shown.record);
  const auto device = shown.devices.find(shown.record.job.device_uuid);
  json["device"] = nullptr;
  if (device != shown.devices.end()) json["device"] = to_json(device->second.device);
  json["history"] = nlohmann::ordered_json::array();
  for (const store::Measurement& measurement : shown.history) {
    json["history"].push_back(to_json(measurement));
    json["history"].back()["samples_us"] = measurement.samples_us;
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
