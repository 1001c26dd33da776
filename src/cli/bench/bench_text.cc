#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/bench/bench.h"
#include "cli/common/csv.h"
#include "app/common/record_json.h"
#include "cli/common/table.h"
#include "app/common/version.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;
using Side = std::optional<tuner::BenchSide>;

std::string time_text(const Side& side) {
  return side ? time_cell(side->median_us) : "-";
}

std::optional<double> ratio(const Side& other, const Side& own) {
  if (!other || !own) return std::nullopt;
  return other->median_us / own->median_us;
}

std::string ratio_text(const Side& other, const Side& own) {
  const auto value = ratio(other, own);
  return value ? fmt::format("{:.3f}", *value) : "-";
}

// Of a mean, or of two sums; nothing was compared where it is not above 0.
std::string mean_text(double mean) {
  return mean > 0 ? fmt::format("{:.3f}", mean) : "-";
}

double step_ratio(double vendor_us, const BenchStep& step) {
  return step.compared > 0 ? vendor_us / step.dispatched_us : 0;
}

std::string rows_table(const BenchReport& report) {
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
  for (const BenchRow& row : report.rows) {
    const Side time = time_of(row.dispatched);
    const Side own = time_of(row.own);
    table.add({row.wanted.text, std::to_string(row.wanted.count),
               row.dispatched ? row.dispatched->label : "-",
               row.dispatched ? std::string(to_string(row.dispatched->provenance)) : "-",
               time_text(time),
               time ? fmt::format("{:.2f}", tflops(row.wanted.problem, time->median_us)) : "-",
               time_text(row.vendor_first), time_text(row.vendor_best),
               ratio_text(row.vendor_first, time), ratio_text(row.vendor_best, time),
               time_text(own), ratio_text(row.vendor_best, own), row.note});
  }
  return table.text();
}

std::string steps_table(const std::vector<BenchGroup>& groups) {
  Table table({{"all calls of a step"},
               {"calls", kRight},
               {"compared", kRight},
               {"dispatched us", kRight},
               {"cuBLASLt 1st us", kRight},
               {"best us", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  const auto sum = [](const BenchStep& step, double us) {
    return step.compared > 0 ? time_cell(us) : "-";
  };
  for (const BenchGroup& group : groups) {
    const BenchStep& step = group.step;
    table.add({group.name, std::to_string(step.calls), std::to_string(step.compared),
               sum(step, step.dispatched_us), sum(step, step.vendor_first_us),
               sum(step, step.vendor_best_us), mean_text(step_ratio(step.vendor_first_us, step)),
               mean_text(step_ratio(step.vendor_best_us, step))});
  }
  return table.text();
}

std::string means_table(const std::vector<BenchGroup>& groups) {
  Table table({{"geometric mean"},
               {"problems", kRight},
               {"compared", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight},
               {"own kernel", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  for (const BenchGroup& group : groups) {
    table.add({group.name, std::to_string(group.rows), std::to_string(group.dispatched.rows),
               mean_text(group.dispatched.vs_first), mean_text(group.dispatched.vs_best),
               std::to_string(group.own.rows), mean_text(group.own.vs_first),
               mean_text(group.own.vs_best)});
  }
  return table.text();
}

ordered_json side_json(const Side& side, const Problem& problem) {
  if (!side) return nullptr;
  ordered_json json;
  json["median_us"] = side->median_us;
  json["ci_low_us"] = side->ci_low_us;
  json["ci_high_us"] = side->ci_high_us;
  json["tflops"] = tflops(problem, side->median_us);
  json["config"] = side->config;
  return json;
}

// Null without a time.
ordered_json contender_json(const std::optional<BenchContender>& contender,
                            const Problem& problem) {
  ordered_json json = side_json(time_of(contender), problem);
  if (json.is_null()) return json;
  json["provenance"] = to_string(contender->provenance);
  json["borrowed_from"] = nullptr;
  if (contender->borrowed_from) json["borrowed_from"] = key(*contender->borrowed_from);
  json["reason"] = contender->reason;
  return json;
}

ordered_json row_json(const BenchRow& row) {
  const Problem& problem = row.wanted.problem;
  ordered_json json;
  json["group"] = row.wanted.group;
  json["text"] = row.wanted.text;
  json["problem"] = row.wanted.unsupported.empty() ? to_json(problem) : ordered_json(nullptr);
  json["count"] = row.wanted.count;
  json["dispatched"] = contender_json(row.dispatched, problem);
  json["own"] = contender_json(row.own, problem);
  json["vendor_first"] = side_json(row.vendor_first, problem);
  json["vendor_best"] = side_json(row.vendor_best, problem);
  json["dispatched_vs_first"] = or_null(ratio(row.vendor_first, time_of(row.dispatched)));
  json["dispatched_vs_best"] = or_null(ratio(row.vendor_best, time_of(row.dispatched)));
  json["own_vs_first"] = or_null(ratio(row.vendor_first, time_of(row.own)));
  json["own_vs_best"] = or_null(ratio(row.vendor_best, time_of(row.own)));
  json["note"] = row.note;
  return json;
}

ordered_json step_json(const BenchStep& step) {
  ordered_json json;
  json["calls"] = step.calls;
  json["compared"] = step.compared;
  json["dispatched_us"] = step.dispatched_us;
  json["vendor_first_us"] = step.vendor_first_us;
  json["vendor_best_us"] = step.vendor_best_us;
  json["vs_first"] = step_ratio(step.vendor_first_us, step);
  json["vs_best"] = step_ratio(step.vendor_best_us, step);
  return json;
}

ordered_json group_json(const BenchGroup& group) {
  return {{"group", group.name},
          {"rows", group.rows},
          {"compared", group.own.rows},
          {"own_vs_first", group.own.vs_first},
          {"own_vs_best", group.own.vs_best},
          {"dispatched_compared", group.dispatched.rows},
          {"dispatched_vs_first", group.dispatched.vs_first},
          {"dispatched_vs_best", group.dispatched.vs_best},
          {"step", step_json(group.step)}};
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string csv_time(const Side& side) {
  return side ? fmt::format("{}", side->median_us) : "";
}

std::string csv_config(const Side& side) {
  return csv_field(side ? side->config : "");
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  if (report.rows.empty()) return "";
  return rows_table(report) + "\n" + steps_table(report.groups) + "\n" +
         means_table(report.groups) +
         (report.interrupted ? "interrupted: this is what was compared until then\n" : "");
}

std::string bench_json(const BenchReport& report) {
  ordered_json json;
  json["tool_version"] = kVersion;
  json["device"] = to_json(*report.target.device);
  json["device"]["driver_version"] = report.driver_version;
  json["warm"] = report.warm;
  json["interrupted"] = report.interrupted;
  json["failure"] = report.failure;
  json["rows"] = ordered_json::array();
  for (const BenchRow& row : report.rows) json["rows"].push_back(row_json(row));
  json["groups"] = ordered_json::array();
  for (const BenchGroup& group : report.groups) json["groups"].push_back(group_json(group));
  return json.dump(2) + "\n";
}

std::string bench_csv(const BenchReport& report) {
  std::string text =
      "group,dtype,acc,math,layout,m,n,k,batch,own_us,vendor_first_us,vendor_best_us,own_vs_first,"
      "own_vs_best,own_config,vendor_best_config,note,align,count,dispatched_us,provenance,"
      "dispatched_vs_first,dispatched_vs_best,dispatched_config\n";
  for (const BenchRow& row : report.rows) {
    const Problem& p = row.wanted.problem;
    const Side time = time_of(row.dispatched);
    const Side own = time_of(row.own);
    text += fmt::format("{},{},{},{},{},{},{},{},{},", csv_field(row.wanted.group),
                        to_string(p.type), to_string(p.accumulator), to_string(p.math),
                        to_string(p.layout), p.shape.m, p.shape.n, p.shape.k, p.batch);
    text += fmt::format("{},{},{},{},{},{},{},{},", csv_time(own), csv_time(row.vendor_first),
                        csv_time(row.vendor_best), csv_number(ratio(row.vendor_first, own)),
                        csv_number(ratio(row.vendor_best, own)), csv_config(own),
                        csv_config(row.vendor_best), csv_field(row.note));
    text += fmt::format("{},{},{},{},{},{},{}\n", p.align_bytes, row.wanted.count, csv_time(time),
                        row.dispatched ? to_string(row.dispatched->provenance) : "",
                        csv_number(ratio(row.vendor_first, time)),
                        csv_number(ratio(row.vendor_best, time)), csv_config(time));
  }
  return text;
}

}  // namespace gemmtune::cli
