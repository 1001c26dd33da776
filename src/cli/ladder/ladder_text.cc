#include "cli/ladder/ladder_text.h"

#include <fmt/format.h>

#include "app/common/record_facts.h"
#include "app/tune/spaces.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string cell(const std::optional<double>& value, int decimals, const char* unit = "") {
  return value ? fmt::format("{:.{}f}{}", *value, decimals, unit) : "-";
}

std::string rungs_table(const tuner::LadderReport& report) {
  Table table({{"rung", kRight},
               {"strategy and tile"},
               {"GFLOP/s", kRight},
               {"of cuBLASLt", kRight},
               {"gain", kRight},
               {"regs", kRight},
               {"spill B", kRight},
               {"smem B", kRight},
               {"FLOP/B", kRight},
               {"FLOP/smem B", kRight},
               {"tried", kRight},
               {"id", kRight}});
  const auto figures = app::rung_figures(report);
  for (size_t i = 0; i < report.rungs.size(); ++i) {
    const tuner::Rung& rung = report.rungs[i];
    if (!figures[i]) continue;
    const app::RungFigures& f = *figures[i];
    const store::Record& best = *rung.best;
    table.add({std::to_string(i + 1), config_cell(best), cell(f.gflops, 0), cell(f.percent, 1, "%"),
               cell(f.gain, 2, "x"), std::to_string(best.registers),
               std::to_string(best.spill_bytes), std::to_string(best.smem_bytes),
               cell(f.flops_per_global_byte, 2), cell(f.flops_per_shared_byte, 2),
               std::to_string(rung.tried), std::to_string(best.id)});
  }
  const auto add_vendor = [&](const char* name, const std::optional<store::Record>& vendor) {
    if (!vendor) return;
    const double time = *app::time_us(*vendor);
    table.add({"", fmt::format("cuBLASLt {}", name),
               cell(app::tflops(report.job.problem, time) * 1e3, 0),
               cell(*app::time_us(*report.vendor.best) / time * 100, 1, "%"), "", "", "", "", "",
               "", "", std::to_string(vendor->id)});
  };
  add_vendor("first", report.vendor.first);
  add_vendor("best", report.vendor.best);
  return table.text();
}

}  // namespace

std::string ladder_text(const app::LadderSummary& summary) {
  const tuner::LadderReport& report = summary.report;
  std::string text = fmt::format("\n{}\n{}", key(summary.problem), rungs_table(report));
  for (const tuner::Rung& rung : report.rungs) {
    if (!rung.best) text += fmt::format("{}: {}\n", rung.strategy->name(), rung.note);
  }
  for (const app::Refusal& refusal : summary.refusals)
    text += fmt::format("{}: {}\n", refusal.strategy->name(), refusal.reason);
  if (report.interrupted) text += "interrupted: the same command goes on from here\n";
  return text + fmt::format("{:.1f} s\n", report.seconds);
}

}  // namespace gemmtune::cli
