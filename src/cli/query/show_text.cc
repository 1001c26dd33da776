#include "cli/query/show_text.h"

#include <fmt/format.h>

#include "app/common/filter.h"
#include "app/common/record_facts.h"
#include "cli/common/print.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string line(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<14} {}\n", name, visible_line(value));
}

std::string error_text(const std::optional<double>& error) {
  return error ? fmt::format("{:.3e}", *error) : "";
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

std::string history_table(const app::ShownRecord& shown) {
  Table table({{"measured at"},
               {"median us", kRight},
               {"95% interval"},
               {"min us", kRight},
               {"samples", kRight},
               {"SM MHz", kRight},
               {"at least", kRight},
               {"W", kRight},
               {"incumbent us", kRight},
               {"throttled by"}});
  for (const store::Timing& timing : shown.history) {
    const store::Measurement& m = timing.measurement;
    table.add({m.measured_at, time_cell(m.median_us),
               fmt::format("{} .. {}", time_cell(m.ci_low_us), time_cell(m.ci_high_us)),
               time_cell(m.min_us), std::to_string(m.sample_count), number(m.sm_clock_median_mhz),
               number(m.sm_clock_min_mhz), number(m.power_w), time_cell(m.baseline_median_us),
               app::throttle_text(m.throttle_reasons)});
  }
  return table.text();
}

// In the order taken.
std::string samples_text(const store::Measurement& measurement) {
  if (measurement.samples_us.empty()) return "";
  constexpr size_t kPerLine = 10;
  std::string text = fmt::format("\nsamples of {}, us", measurement.measured_at);
  for (size_t i = 0; i < measurement.samples_us.size(); ++i)
    text += fmt::format("{}{:>9.2f}", i % kPerLine == 0 ? "\n" : " ", measurement.samples_us[i]);
  return text + "\n";
}

std::string run_text(const store::StoredRun& run) {
  std::string text = fmt::format("gemm-tune {}, {}", run.info.tool_version, run.started_at);
  if (run.info.driver_version > 0)
    text += fmt::format(", driver for CUDA {}.{}", run.info.driver_version / 1000,
                        run.info.driver_version % 1000 / 10);
  return text;
}

std::string machine_text(const app::ShownRecord& shown) {
  const auto found = shown.devices.find(shown.record.job.device_uuid);
  if (found == shown.devices.end()) return "";
  const Device& device = found->second.device;
  return fmt::format("{}, {} SMs, {:.0f} GiB, L2 {:.0f} MiB", to_string(device.arch),
                     device.sm_count, static_cast<double>(device.memory_bytes) / (1 << 30),
                     static_cast<double>(device.l2_bytes) / (1 << 20));
}

}  // namespace

std::string show_text(const app::ShownRecord& shown) {
  const store::Record& r = shown.record;
  std::string text = line("id", std::to_string(r.id));
  text += line("problem", key(r.job.problem));
  text += line("arch", to_string(r.job.arch));
  text += line("device",
               r.job.device_uuid.empty()
                   ? "none"
                   : fmt::format("{} ({})", app::device_name(shown.devices, r.job.device_uuid),
                                 r.job.device_uuid));
  text += line("machine", machine_text(shown));
  text += line("operands", r.job.warm ? "in cache" : "in memory");
  text += line("strategy", r.key.strategy);
  text += line("config", r.key.config);
  if (const auto same = app::deterministic(r))
    text += line("deterministic", *same ? "yes" : "no: two runs may round differently");
  text += line("source", r.key.source_hash);
  text += line("compiler", r.key.compiler_version);
  text += line("outcome", std::string(store::to_string(r.outcome)));
  text += line("reason", r.reason);
  text += line("provenance", provenance_text(r, shown.devices));
  text += line("state", r.stale ? "stale: tried again with another source or compiler" : "current");
  text += line("time us", time_cell(app::time_us(r)));
  text += line("TFLOP/s", tflops_cell(r));
  text += line("predicted us", r.predicted_us ? time_cell(r.predicted_us) : "");
  text += line("registers", fmt::format("{} per thread, {} B spilled", r.registers, r.spill_bytes));
  text += line("shared memory", fmt::format("{} B per block", r.smem_bytes));
  text += line("error", error_text(r.max_error));
  text += line("vendor error", error_text(r.vendor_max_error));
  text += line("created", shown.created_at);
  text += line("updated", r.updated_at);
  text += line("run", run_text(shown.run));
  text += line("run options", shown.run.info.options);
  if (!shown.history.empty()) text += "\n" + history_table(shown);
  for (const store::Timing& timing : shown.history) text += samples_text(timing.measurement);
  return text;
}

}  // namespace gemmtune::cli
