#include "cli/tune/tune_text.h"

#include <fmt/format.h>

#include "app/common/record_facts.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string versus_cell(const store::Record& record, const std::optional<store::Record>& vendor) {
  const auto own = app::time_us(record);
  const auto other = vendor ? app::time_us(*vendor) : std::nullopt;
  return own && other ? fmt::format("{:.3f}x", *other / *own) : "-";
}

std::string ranking_table(const tuner::TuneReport& report) {
  Table table({{"rank", kRight},
               {"strategy and tile"},
               {"time us", kRight},
               {"TFLOP/s", kRight},
               {"vs cuBLASLt", kRight},
               {"regs", kRight},
               {"smem B", kRight},
               {"id", kRight},
               {"provenance"}});
  int rank = 0;
  for (const store::Record& record : report.ranking) {
    table.add({std::to_string(++rank), config_cell(record), time_cell(app::time_us(record)),
               tflops_cell(record), versus_cell(record, report.vendor_best),
               std::to_string(record.registers), std::to_string(record.smem_bytes),
               std::to_string(record.id), std::string(store::to_string(record.provenance))});
  }
  const auto add_vendor = [&](const char* name, const std::optional<store::Record>& vendor) {
    if (!vendor) return;
    table.add({"", fmt::format("cuBLASLt {}", name), time_cell(app::time_us(*vendor)),
               tflops_cell(*vendor), versus_cell(*vendor, report.vendor_best), "", "",
               std::to_string(vendor->id), std::string(store::to_string(vendor->provenance))});
  };
  add_vendor("first", report.vendor_first);
  add_vendor("best", report.vendor_best);
  return table.text();
}

std::string counts_line(const tuner::TuneReport& report) {
  std::string text =
      fmt::format("{} legal geometries; {} tried", report.geometries, report.evaluated);
  if (report.resumed > 0) text += fmt::format(", {} taken over from other runs", report.resumed);
  text += fmt::format("; {} compiled, {} from the cache", report.compiled, report.cached);
  if (report.measured > 0) text += fmt::format("; {} measured", report.measured);
  for (const auto& [outcome, count] : report.failures)
    text += fmt::format("; {} {}", count, outcome);
  return text + fmt::format("; {:.1f} s\n", report.seconds);
}

// Of a predicted winner: no GPU has run it.
std::string simulated_line(const tuner::TuneReport& report) {
  if (report.ranking.empty()) return "";
  const store::Record& winner = report.ranking.front();
  const bool checked = winner.provenance == store::Provenance::predicted &&
                       winner.outcome == store::Outcome::ok && winner.max_error;
  if (!checked) return "";
  return fmt::format("rank 1 gave right results on the PTX simulator (largest error {:.1e})\n",
                     *winner.max_error);
}

}  // namespace

std::string tune_text(const app::TunedProblem& tuned) {
  if (!tuned.report) return fmt::format("\n{}\nskipped: {}\n", tuned.wanted.text, tuned.skipped);
  const tuner::TuneReport& report = *tuned.report;
  std::string text = fmt::format("\n{}\n", tuned.wanted.text);
  text += report.ranking.empty() ? "no candidate was finished\n" : ranking_table(report);
  text += simulated_line(report);
  text += counts_line(report);
  if (report.interrupted) text += "interrupted: the same command goes on from here\n";
  return text;
}

}  // namespace gemmtune::cli
