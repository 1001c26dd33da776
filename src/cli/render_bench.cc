#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/bench.h"
#include "cli/csv.h"
#include "cli/render_record.h"
#include "cli/table.h"
#include "cli/version.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;
using Side = std::optional<tuner::BenchSide>;

std::string time_text(const Side& side) {
  return side ? time_cell(side->median_us) : "-";
}

std::string ratio_text(const Side& other, const Side& own) {
  return other && own ? fmt::format("{:.3f}", other->median_us / own->median_us) : "-";
}

std::string mean_text(double mean) {
  return mean > 0 ? fmt::format("{:.3f}", mean) : "-";
}

std::string own_tflops(const tuner::SuiteBenchRow& row) {
  return row.own ? fmt::format("{:.2f}", tflops(row.entry.problem, row.own->median_us)) : "-";
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

ordered_json ratio_json(const Side& other, const Side& own) {
  if (!other || !own) return nullptr;
  return other->median_us / own->median_us;
}

std::string csv_number(const Side& side) {
  return side ? fmt::format("{}", side->median_us) : "";
}

std::string csv_ratio(const Side& other, const Side& own) {
  return other && own ? fmt::format("{}", other->median_us / own->median_us) : "";
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  Table table({{"problem"},
               {"own us", kRight},
               {"cuBLASLt 1st us", kRight},
               {"best us", kRight},
               {"own TFLOP/s", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight},
               {"note"}});
  for (const tuner::SuiteBenchRow& row : report.rows) {
    table.add({row.entry.text, time_text(row.own), time_text(row.vendor_first),
               time_text(row.vendor_best), own_tflops(row), ratio_text(row.vendor_first, row.own),
               ratio_text(row.vendor_best, row.own), row.note});
  }
  Table means({{"geometric mean"},
               {"problems", kRight},
               {"compared", kRight},
               {"vs 1st", kRight},
               {"vs best", kRight}});
  for (const tuner::GroupMean& mean : report.means) {
    means.add({mean.group, std::to_string(mean.rows), std::to_string(mean.compared),
               mean_text(mean.own_vs_first), mean_text(mean.own_vs_best)});
  }
  return table.text() + "\n" + means.text() + (report.interrupted ? "interrupted\n" : "");
}

std::string bench_json(const BenchReport& report) {
  ordered_json json;
  json["tool_version"] = kVersion;
  json["device"] = to_json(*report.target.device);
  json["device"]["driver_version"] = report.driver_version;
  json["warm"] = report.warm;
  json["interrupted"] = report.interrupted;
  json["rows"] = ordered_json::array();
  for (const tuner::SuiteBenchRow& row : report.rows) {
    ordered_json entry;
    entry["group"] = row.entry.group;
    entry["text"] = row.entry.text;
    entry["problem"] =
        row.entry.unsupported.empty() ? to_json(row.entry.problem) : ordered_json(nullptr);
    entry["own"] = side_json(row.own, row.entry.problem);
    entry["vendor_first"] = side_json(row.vendor_first, row.entry.problem);
    entry["vendor_best"] = side_json(row.vendor_best, row.entry.problem);
    entry["own_vs_first"] = ratio_json(row.vendor_first, row.own);
    entry["own_vs_best"] = ratio_json(row.vendor_best, row.own);
    entry["note"] = row.note;
    json["rows"].push_back(std::move(entry));
  }
  json["groups"] = ordered_json::array();
  for (const tuner::GroupMean& mean : report.means) {
    json["groups"].push_back({{"group", mean.group},
                              {"rows", mean.rows},
                              {"compared", mean.compared},
                              {"own_vs_first", mean.own_vs_first},
                              {"own_vs_best", mean.own_vs_best}});
  }
  return json.dump(2) + "\n";
}

std::string bench_csv(const BenchReport& report) {
  std::string text =
      "group,dtype,acc,math,layout,m,n,k,batch,own_us,vendor_first_us,vendor_best_us,own_vs_first,"
      "own_vs_best,own_config,vendor_best_config,note\n";
  for (const tuner::SuiteBenchRow& row : report.rows) {
    const Problem& p = row.entry.problem;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.entry.group),
        to_string(p.type), to_string(p.accumulator), to_string(p.math), to_string(p.layout),
        p.shape.m, p.shape.n, p.shape.k, p.batch, csv_number(row.own), csv_number(row.vendor_first),
        csv_number(row.vendor_best), csv_ratio(row.vendor_first, row.own),
        csv_ratio(row.vendor_best, row.own), csv_field(row.own ? row.own->config : ""),
        csv_field(row.vendor_best ? row.vendor_best->config : ""), csv_field(row.note));
  }
  return text;
}

}  // namespace gemmtune::cli
