#include "cli/bench/bench_text.h"

#include <fmt/format.h>

#include "app/bench/bench_summary.h"
#include "app/common/record_facts.h"
#include "cli/common/csv.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using Side = std::optional<tuner::BenchSide>;

std::string time_text(const Side& side) {
  return side ? time_cell(side->median_us) : "-";
}

std::string ratio_text(const Side& other, const Side& own) {
  const auto value = app::time_ratio(other, own);
  return value ? fmt::format("{:.3f}", *value) : "-";
}

// Of a mean, or of two sums; nothing was compared where it is not above 0.
std::string mean_text(double mean) {
  return mean > 0 ? fmt::format("{:.3f}", mean) : "-";
}

std::string rows_table(const app::BenchReport& report) {
  Table table({{"problem"},
               {"calls", kRight},
               {"dispatched"},
               {"provenance"},
               {"us", kRight},
               {"TFLOP/s", kRight},
               {"cuBLASLt 1st us", kRight},
               {"best us", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight},
               {"own us", kRight},
               {"own vs best", kRight},
               {"note"}});
  for (const app::BenchRow& row : report.rows) {
    const Side time = app::time_of(row.dispatched);
    const Side own = app::time_of(row.own);
    table.add({row.wanted.text, std::to_string(row.wanted.count),
               row.dispatched ? row.dispatched->label : "-",
               row.dispatched ? std::string(to_string(row.dispatched->provenance)) : "-",
               time_text(time),
               time ? fmt::format("{:.2f}", app::tflops(row.wanted.problem, time->median_us)) : "-",
               time_text(row.vendor_first), time_text(row.vendor_best),
               ratio_text(row.vendor_first, time), ratio_text(row.vendor_best, time),
               time_text(own), ratio_text(row.vendor_best, own), row.note});
  }
  return table.text();
}

// Time, rate, clock and energy of one side.
std::vector<std::string> sustained_cells(const Problem& problem, const Side& side) {
  if (!side || !side->sustained) return {"-", "-", "-", "-"};
  const tuner::SustainedLoad& load = *side->sustained;
  const auto energy = app::joules_per_tflop(problem, load);
  return {time_cell(load.time_us), fmt::format("{:.1f}", app::tflops(problem, load.time_us)),
          load.sm_clock_mhz ? fmt::format("{:.0f}", *load.sm_clock_mhz) : "-",
          energy ? fmt::format("{:.2f}", *energy) : "-"};
}

// Empty where nothing ran under a sustained load.
std::string sustained_table(const app::BenchReport& report) {
  Table table({{"under a sustained load"},
               {"us", kRight},
               {"TFLOP/s", kRight},
               {"MHz", kRight},
               {"J/TFLOP", kRight},
               {"cuBLASLt best us", kRight},
               {"TFLOP/s", kRight},
               {"MHz", kRight},
               {"J/TFLOP", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  bool any = false;
  for (const app::BenchRow& row : report.rows) {
    const Side time = app::time_of(row.dispatched);
    if (!time || !time->sustained) continue;
    any = true;
    std::vector<std::string> cells = {row.wanted.text};
    for (const Side& side : {time, row.vendor_best}) {
      for (std::string& cell : sustained_cells(row.wanted.problem, side))
        cells.push_back(std::move(cell));
    }
    for (const Side& side : {row.vendor_first, row.vendor_best}) {
      const auto ratio = app::sustained_ratio(side, time);
      cells.push_back(ratio ? fmt::format("{:.3f}", *ratio) : "-");
    }
    table.add(cells);
  }
  return any ? table.text() + "\n" : "";
}

std::string steps_table(const std::vector<app::BenchGroup>& groups) {
  Table table({{"all calls of one step"},
               {"calls", kRight},
               {"compared", kRight},
               {"dispatched us", kRight},
               {"cuBLASLt 1st us", kRight},
               {"best us", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  const auto sum = [](const app::BenchStep& step, double us) {
    return step.compared > 0 ? time_cell(us) : "-";
  };
  for (const app::BenchGroup& group : groups) {
    const app::BenchStep& step = group.step;
    table.add({group.name, std::to_string(step.calls), std::to_string(step.compared),
               sum(step, step.dispatched_us), sum(step, step.vendor_first_us),
               sum(step, step.vendor_best_us),
               mean_text(app::step_ratio(step.vendor_first_us, step)),
               mean_text(app::step_ratio(step.vendor_best_us, step))});
  }
  return table.text();
}

std::string means_table(const std::vector<app::BenchGroup>& groups) {
  Table table({{"geometric mean"},
               {"problems", kRight},
               {"compared", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight},
               {"own kernel", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  for (const app::BenchGroup& group : groups) {
    table.add({group.name, std::to_string(group.rows), std::to_string(group.dispatched.rows),
               mean_text(group.dispatched.vs_first), mean_text(group.dispatched.vs_best),
               std::to_string(group.own.rows), mean_text(group.own.vs_first),
               mean_text(group.own.vs_best)});
  }
  return table.text();
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv_time(const Side& side) {
  return side ? fmt::format("{}", side->median_us) : "";
}

std::string csv_sustained(const Side& side) {
  return side && side->sustained ? fmt::format("{}", side->sustained->time_us) : "";
}

std::string csv_config(const Side& side) {
  return csv_field(side ? side->config : "");
}

}  // namespace

std::string bench_text(const app::BenchReport& report) {
  if (report.rows.empty()) return "";
  return rows_table(report) + "\n" + sustained_table(report) + steps_table(report.groups) + "\n" +
         means_table(report.groups) +
         (report.interrupted ? "interrupted: this is what was compared until then\n" : "");
}

std::string bench_csv(const app::BenchReport& report) {
  std::string text =
      "group,dtype,acc,math,layout,m,n,k,batch,own_us,vendor_first_us,vendor_best_us,own_vs_first,"
      "own_vs_best,own_config,vendor_best_config,note,align,count,dispatched_us,provenance,"
      "dispatched_vs_first,dispatched_vs_best,dispatched_config,out,epilogue,beta,"
      "dispatched_sustained_us,vendor_first_sustained_us,vendor_best_sustained_us\n";
  for (const app::BenchRow& row : report.rows) {
    const Problem& p = row.wanted.problem;
    const Side time = app::time_of(row.dispatched);
    const Side own = app::time_of(row.own);
    text += fmt::format("{},{},{},{},{},{},{},{},{},", csv_field(row.wanted.group),
                        to_string(p.type), to_string(p.accumulator), to_string(p.math),
                        to_string(p.layout), p.shape.m, p.shape.n, p.shape.k, p.batch);
    text +=
        fmt::format("{},{},{},{},{},{},{},{},", csv_time(own), csv_time(row.vendor_first),
                    csv_time(row.vendor_best), csv_number(app::time_ratio(row.vendor_first, own)),
                    csv_number(app::time_ratio(row.vendor_best, own)), csv_config(own),
                    csv_config(row.vendor_best), csv_field(row.note));
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},", p.align_bytes, row.wanted.count,
                        csv_time(time), row.dispatched ? to_string(row.dispatched->provenance) : "",
                        csv_number(app::time_ratio(row.vendor_first, time)),
                        csv_number(app::time_ratio(row.vendor_best, time)), csv_config(time),
                        to_string(result_type(p)), csv_field(to_string(p.epilogue)), report.beta);
    text += fmt::format("{},{},{}\n", csv_sustained(time), csv_sustained(row.vendor_first),
                        csv_sustained(row.vendor_best));
  }
  return text;
}

}  // namespace gemmtune::cli
