#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/ladder/ladder.h"
#include "app/common/record_json.h"
#include "cli/tune/tune_text.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;

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
  const auto figures = rung_figures(report);
  for (size_t i = 0; i < report.rungs.size(); ++i) {
    const tuner::Rung& rung = report.rungs[i];
    if (!figures[i]) continue;
    const RungFigures& f = *figures[i];
    const store::Record& best = *rung.best;
    table.add({std::to_string(i + 1), config_cell(best), cell(f.gflops, 0), cell(f.percent, 1, "%"),
               cell(f.gain, 2, "x"), std::to_string(best.registers),
               std::to_string(best.spill_bytes), std::to_string(best.smem_bytes),
               cell(f.flops_per_global_byte, 2), cell(f.flops_per_shared_byte, 2),
               std::to_string(rung.tried), std::to_string(best.id)});
  }
  const auto add_vendor = [&](const char* name, const std::optional<store::Record>& vendor) {
    if (!vendor) return;
    const double time = *time_us(*vendor);
    table.add({"", fmt::format("cuBLASLt {}", name),
               cell(tflops(report.job.problem, time) * 1e3, 0),
               cell(*time_us(*report.vendor_best) / time * 100, 1, "%"), "", "", "", "", "", "", "",
               std::to_string(vendor->id)});
  };
  add_vendor("first", report.vendor_first);
  add_vendor("best", report.vendor_best);
  return table.text();
}

ordered_json rung_json(size_t index, const tuner::Rung& rung,
                       const std::optional<RungFigures>& figures) {
  ordered_json json;
  json["rung"] = index + 1;
  json["strategy"] = rung.strategy->name();
  json["summary"] = rung.strategy->summary();
  for (const char* key : {"gflops", "percent_of_cublaslt", "gain", "flops_per_global_byte",
                          "flops_per_shared_byte"}) {
    json[key] = nullptr;
  }
  if (figures) {
    json["gflops"] = figures->gflops;
    json["percent_of_cublaslt"] = or_null(figures->percent);
    json["gain"] = or_null(figures->gain);
    json["flops_per_global_byte"] = figures->flops_per_global_byte;
    json["flops_per_shared_byte"] = or_null(figures->flops_per_shared_byte);
  }
  json["tried"] = rung.tried;
  json["record"] = to_json(rung.best);
  json["note"] = rung.note;
  return json;
}

}  // namespace

std::string ladder_text(const LadderSummary& summary) {
  const tuner::LadderReport& report = summary.report;
  std::string text = fmt::format("\n{}\n{}", key(summary.problem), rungs_table(report));
  for (const tuner::Rung& rung : report.rungs) {
    if (!rung.best) text += fmt::format("{}: {}\n", rung.strategy->name(), rung.note);
  }
  for (const Refusal& refusal : summary.refusals)
    text += fmt::format("{}: {}\n", refusal.strategy->name(), refusal.reason);
  if (report.interrupted) text += "interrupted: the same command goes on from here\n";
  return text + fmt::format("{:.1f} s\n", report.seconds);
}

std::string ladder_json(const LadderSummary& summary) {
  const tuner::LadderReport& report = summary.report;
  ordered_json json = target_json(summary.target);
  json["problem"] = to_json(summary.problem);
  json["key"] = key(summary.problem);
  json["warm"] = report.job.warm;
  json["rungs"] = ordered_json::array();
  const auto figures = rung_figures(report);
  for (size_t i = 0; i < report.rungs.size(); ++i)
    json["rungs"].push_back(rung_json(i, report.rungs[i], figures[i]));
  json["vendor_first"] = to_json(report.vendor_first);
  json["vendor_best"] = to_json(report.vendor_best);
  json["skipped"] = ordered_json::array();
  for (const Refusal& refusal : summary.refusals)
    json["skipped"].push_back({{"strategy", refusal.strategy->name()}, {"reason", refusal.reason}});
  json["seconds"] = report.seconds;
  json["interrupted"] = report.interrupted;
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
