#include "cli/tune/tune_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;

std::string versus_cell(const store::Record& record, const std::optional<store::Record>& vendor) {
  const auto own = time_us(record);
  const auto other = vendor ? time_us(*vendor) : std::nullopt;
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
    table.add({std::to_string(++rank), config_cell(record), time_cell(time_us(record)),
               tflops_cell(record), versus_cell(record, report.vendor_best),
               std::to_string(record.registers), std::to_string(record.smem_bytes),
               std::to_string(record.id), std::string(store::to_string(record.provenance))});
  }
  const auto add_vendor = [&](const char* name, const std::optional<store::Record>& vendor) {
    if (!vendor) return;
    table.add({"", fmt::format("cuBLASLt {}", name), time_cell(time_us(*vendor)),
               tflops_cell(*vendor), versus_cell(*vendor, report.vendor_best), "", "",
               std::to_string(vendor->id), std::string(store::to_string(vendor->provenance))});
  };
  add_vendor("first", report.vendor_first);
  add_vendor("best", report.vendor_best);
  return table.text();
}

std::string counts_line(const tuner::TuneReport& report) {
  std::string text = fmt::format("{} legal tiles; {} tried", report.legal_points, report.evaluated);
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

ordered_json report_json(const tuner::TuneReport& report) {
  ordered_json json;
  json["ranking"] = ordered_json::array();
  for (const store::Record& record : report.ranking) json["ranking"].push_back(to_json(record));
  json["vendor_first"] = to_json(report.vendor_first);
  json["vendor_best"] = to_json(report.vendor_best);
  json["legal_points"] = report.legal_points;
  json["resumed"] = report.resumed;
  json["evaluated"] = report.evaluated;
  json["measured"] = report.measured;
  json["compiled"] = report.compiled;
  json["cached"] = report.cached;
  json["failures"] = ordered_json::object();
  for (const auto& [outcome, count] : report.failures) json["failures"][outcome] = count;
  json["seconds"] = report.seconds;
  json["interrupted"] = report.interrupted;
  return json;
}

}  // namespace

std::string target_line(const Target& target) {
  if (!target.device) {
    return fmt::format(
        "predicted for {} as {}{}; nothing was measured\n", to_string(target.arch),
        with_article(target.limits.name),
        target.model_named ? "" : fmt::format(": no {} device is present", to_string(target.arch)));
  }
  return fmt::format("measured on device {}: {} ({} SMs), code for {}\n", target.device->ordinal,
                     target.device->name, target.device->sm_count, to_string(target.arch));
}

ordered_json target_json(const Target& target) {
  ordered_json json;
  json["arch"] = to_string(target.arch);
  json["device"] = target.device ? to_json(*target.device) : ordered_json(nullptr);
  json["provenance"] = target.device ? "measured" : "predicted";
  json["model"] = target.device ? ordered_json(nullptr) : ordered_json(target.limits.name);
  std::string note = target_line(target);
  note.pop_back();
  json["note"] = note;
  return json;
}

std::string tune_text(const TunedProblem& tuned) {
  if (!tuned.report) return fmt::format("\n{}\nskipped: {}\n", tuned.wanted.text, tuned.skipped);
  const tuner::TuneReport& report = *tuned.report;
  std::string text = fmt::format("\n{}\n", tuned.wanted.text);
  text += report.ranking.empty() ? "no candidate was finished\n" : ranking_table(report);
  text += simulated_line(report);
  text += counts_line(report);
  if (report.interrupted) text += "interrupted: the same command goes on from here\n";
  return text;
}

std::string tune_json(const TuneSummary& summary) {
  ordered_json json = target_json(summary.target);
  json["interrupted"] = summary.interrupted;
  json["results"] = ordered_json::array();
  json["skipped"] = ordered_json::array();
  for (const TunedProblem& tuned : summary.problems) {
    if (!tuned.report) {
      json["skipped"].push_back({{"problem", tuned.wanted.text}, {"reason", tuned.skipped}});
      continue;
    }
    ordered_json result = report_json(*tuned.report);
    ordered_json entry;
    entry["problem"] = to_json(tuned.wanted.problem);
    entry["key"] = tuned.wanted.text;
    entry.update(result);
    json["results"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
