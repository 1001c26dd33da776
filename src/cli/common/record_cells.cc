#include "cli/common/record_cells.h"

#include <fmt/format.h>

#include "app/common/record_facts.h"
#include "core/device.h"

namespace gemmtune::cli {
namespace {

// " as an RTX 4090"; empty where the model was not recorded.
std::string model_text(const store::Record& record, const app::DeviceNames& devices) {
  const auto found = devices.find(record.job.device_uuid);
  return found == devices.end() ? "" : " as " + with_article(found->second.device.name);
}

}  // namespace

std::string time_cell(const std::optional<double>& microseconds) {
  if (!microseconds) return "-";
  return fmt::format("{:.{}f}", *microseconds, *microseconds < 100 ? 2 : 1);
}

std::string tflops_cell(const store::Record& record) {
  const auto time = app::time_us(record);
  return time ? fmt::format("{:.2f}", app::tflops(record.job.problem, *time)) : "-";
}

std::string config_cell(const store::Record& record) {
  const auto tile = parse_tile(record.key.config);
  if (!tile) return record.key.strategy + " " + record.key.config;
  std::string text = app::config_text(record.key.strategy, *tile);
  return app::deterministic(record).value_or(true) ? text : text + ", non-deterministic";
}

std::string provenance_text(const store::Record& record, const app::DeviceNames& devices) {
  switch (record.provenance) {
    case store::Provenance::measured:
      return "measured on " + app::device_name(devices, record.job.device_uuid);
    case store::Provenance::transferred:
      return "transferred from another device";
    case store::Provenance::predicted:
      return fmt::format("predicted for {}{}; nothing was measured", to_string(record.job.arch),
                         model_text(record, devices));
  }
  return "";
}

}  // namespace gemmtune::cli
