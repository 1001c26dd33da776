#include "cli/tune/tune_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/device_list.h"
#include "app/common/record_facts.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

constexpr double kMuchWaiting = 0.2;  // of a search's time, which more cores would save

std::string versus_cell(const store::Record& record, const std::optional<store::Record>& vendor) {
  const auto own = app::time_us(record);
  const auto other = app::time_us(vendor);
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
               tflops_cell(record), versus_cell(record, report.vendor.best),
               std::to_string(record.registers), std::to_string(record.smem_bytes),
               std::to_string(record.id), std::string(store::to_string(record.provenance))});
  }
  const auto add_vendor = [&](const char* name, const std::optional<store::Record>& vendor) {
    if (!vendor) return;
    table.add({"", fmt::format("cuBLASLt {}", name), time_cell(app::time_us(*vendor)),
               tflops_cell(*vendor), versus_cell(*vendor, report.vendor.best), "", "",
               std::to_string(vendor->id), std::string(store::to_string(vendor->provenance))});
  };
  add_vendor("first", report.vendor.first);
  add_vendor("best", report.vendor.best);
  return table.text();
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

// How sure it is that the best is faster than the vendor's, or slower.
std::string margin_line(const tuner::TuneReport& report) {
  if (report.ranking.empty()) return "";
  const auto margin = app::margin(report.ranking.front(), report.vendor.best);
  if (!margin) return "";
  const bool open = margin->low <= 1 && margin->high >= 1;
  return fmt::format("rank 1 is {:.3f} times as fast as cuBLASLt's best ({:.3f} to {:.3f}{})\n",
                     margin->ratio, margin->low, margin->high,
                     open ? ": they may be equally fast" : "");
}

// How sure a prediction is.
std::string spread_line(const tuner::TuneReport& report) {
  if (!report.predicted_spread) return "";
  return fmt::format(
      "times are predicted: of shapes that the model had not seen, such times were off by a "
      "factor of {:.2f} (gemm-tune model report)\n",
      *report.predicted_spread);
}

// "at most 360 candidates each", and how long that is where it is known.
std::string effort_text(const app::TunePlan& plan, size_t problems) {
  const tuner::TuneRequest& request = plan.problems[plan.order.front()].request;
  std::string text = fmt::format("at most {} candidates each", request.max_candidates);
  if (request.max_seconds <= 0) return text + "; --budget 10s would end each search after 10 s";
  const size_t devices = std::max<size_t>(1, plan.target.devices.size());
  const double minutes =
      request.max_seconds * static_cast<double>(problems) / static_cast<double>(devices) / 60;
  return text + fmt::format("; searches of {:g} s: {:.1f} minutes in all{}", request.max_seconds,
                            minutes,
                            plan.target.device ? ", and final rounds of some seconds" : "");
}

std::string fit_line(const app::TuneSummary& summary) {
  if (!summary.fit) return "";
  const tuner::HeldOutJudgement& all = summary.fit->judged.back();
  return fmt::format(
      "the model learnt from {} candidates: times of other shapes are off by a factor of {:.2f} "
      "({:.2f} without)\n",
      all.calibrated.candidates, all.calibrated.spread, all.model.spread);
}

// How long a command took, and how much of that its GPUs measured.
std::string busy_line(const app::TuneSummary& summary) {
  const auto share = app::busy_share(summary);
  if (!share) return "";
  const size_t devices = std::max<size_t>(1, app::count_distinct(summary.target.devices));
  return fmt::format("{:.1f} s; {} busy {:.0f}% of that\n", summary.seconds,
                     devices > 1 ? fmt::format("{} GPUs", devices) : "the GPU", 100 * *share);
}

}  // namespace

std::string counts_line(const tuner::TuneReport& report) {
  std::string text =
      fmt::format("{} legal geometries; {} tried", report.geometries, report.evaluated);
  if (report.resumed > 0) text += fmt::format(", {} taken over from other runs", report.resumed);
  text += fmt::format("; {} compiled, {} from the cache", report.compiled, report.cached);
  if (report.measured > 0) text += fmt::format("; {} measured", report.measured);
  for (const auto& [outcome, count] : report.failures)
    text += fmt::format("; {} {}", count, outcome);
  if (report.without_gain)
    text += fmt::format("; the last {} gained nothing", *report.without_gain);
  if (report.expected_gain)
    text += fmt::format(", more are expected to gain {:.1f}%", 100 * *report.expected_gain);
  text += fmt::format("; {:.1f} s", report.seconds);
  if (report.busy_seconds > 0)
    text += fmt::format(", the GPU busy {:.0f}% of it", 100 * report.busy_seconds / report.seconds);
  if (report.spent.waiting > kMuchWaiting * report.seconds) {
    text += fmt::format(", {:.0f}% spent waiting for compilers",
                        100 * report.spent.waiting / report.seconds);
  }
  return text + "\n";
}

std::string step_line(const app::TuneSummary& summary) {
  double own_us = 0;
  double first_us = 0;
  double vendor_us = 0;
  double faster_us = 0;
  for (const app::TunedProblem& tuned : summary.problems) {
    if (!tuned.report || tuned.report->ranking.empty()) continue;
    const auto own = app::time_us(tuned.report->ranking.front());
    const auto vendor = app::time_us(tuned.report->vendor.best);
    if (!own || !vendor) continue;
    const auto calls = static_cast<double>(tuned.wanted.count);
    own_us += calls * *own;
    first_us += calls * app::time_us(tuned.report->vendor.first).value_or(*vendor);
    vendor_us += calls * *vendor;
    faster_us += calls * std::min(*own, *vendor);
  }
  if (vendor_us == 0) return "";
  return fmt::format(
      "all calls of these: cuBLASLt's best {:.3f} ms, own kernels {:.3f} ms ({:.3f}x), the faster "
      "of both {:.3f} ms ({:.3f}x); cuBLASLt's first choice, which programs get, {:.3f} ms "
      "({:.3f}x)\n",
      vendor_us * 1e-3, own_us * 1e-3, vendor_us / own_us, faster_us * 1e-3, vendor_us / faster_us,
      first_us * 1e-3, first_us / faster_us);
}

std::string place_text(const app::TunePlace& place) {
  if (place.count < 2) return "";
  if (!place.seconds_left) return fmt::format("[{}/{}] ", place.number, place.count);
  const double seconds = *place.seconds_left;
  const std::string left =
      seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("[{}/{}, {} left] ", place.number, place.count, left);
}

std::string tune_summary_text(const app::TuneSummary& summary) {
  if (summary.problems.size() < 2) return "";
  Table table({{"calls", kRight},
               {"problem"},
               {"time us", kRight},
               {"cuBLASLt us", kRight},
               {"ratio", kRight},
               {"strategy and tile"}});
  for (const app::TunedProblem& tuned : summary.problems) {
    const std::string calls = std::to_string(tuned.wanted.count);
    if (!tuned.report || tuned.report->ranking.empty()) {
      table.add({calls, tuned.wanted.text, "-", "-", "-", "none"});
      continue;
    }
    const store::Record& best = tuned.report->ranking.front();
    const std::optional<store::Record>& vendor = tuned.report->vendor.best;
    const auto own_us = app::time_us(best);
    const auto vendor_us = app::time_us(vendor);
    table.add({calls, tuned.wanted.text, time_cell(own_us), time_cell(vendor_us),
               versus_cell(best, vendor), config_cell(best)});
  }
  return "\n" + table.text() + step_line(summary) + fit_line(summary) + busy_line(summary);
}

std::string plan_text(const app::TunePlan& plan) {
  Table table(
      {{"calls", kRight}, {"problem"}, {"at least us", kRight}, {"strategies", kRight}, {"note"}});
  size_t problems = 0;
  for (const size_t i : plan.order) {
    const app::PlannedProblem& planned = plan.problems[i];
    const bool is_tuned = planned.skipped.empty();
    problems += is_tuned ? 1 : 0;
    table.add({std::to_string(planned.wanted.count), planned.wanted.text,
               is_tuned ? time_cell(planned.floor_us) : "-",
               is_tuned ? std::to_string(planned.request.spaces.size()) : "-", planned.skipped});
  }
  return app::target_line(plan.target) + table.text() +
         fmt::format("{} problem{} would be tuned, in this order: {}\n", problems,
                     problems == 1 ? "" : "s", effort_text(plan, problems));
}

std::string tune_text(const app::TunedProblem& tuned) {
  if (!tuned.report) return fmt::format("\n{}\nskipped: {}\n", tuned.wanted.text, tuned.skipped);
  const tuner::TuneReport& report = *tuned.report;
  std::string text = fmt::format("\n{}\n", tuned.wanted.text);
  text += report.ranking.empty() ? "no candidate was finished\n" : ranking_table(report);
  text += simulated_line(report);
  text += spread_line(report);
  text += margin_line(report);
  text += counts_line(report);
  if (report.interrupted) text += "interrupted: the same command goes on from here\n";
  return text;
}

}  // namespace gemmtune::cli
