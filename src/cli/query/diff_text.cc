#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/query/diff.h"
#include "app/common/record_json.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;

std::string problem_cell(const store::Record& record) {
  return key(record.job.problem) + (record.job.warm ? " warm" : "");
}

std::string rows_table(const StoreDiff& diff) {
  Table table({{"problem"},
               {"arch"},
               {"device"},
               {"A us", kRight},
               {"B us", kRight},
               {"A/B", kRight},
               {"provenance"},
               {"winner in A"},
               {"winner in B"}});
  for (const DiffRow& row : diff.rows) {
    const std::string in_a(store::to_string(row.a.provenance));
    const std::string in_b(store::to_string(row.b.provenance));
    table.add({problem_cell(row.a), to_string(row.a.job.arch),
               device_name(diff.devices, row.a.job.device_uuid), time_cell(time_us(row.a)),
               time_cell(time_us(row.b)), row.ratio ? fmt::format("{:.3f}", *row.ratio) : "-",
               in_a == in_b ? in_a : fmt::format("{}, {}", in_a, in_b), config_cell(row.a),
               row.winner_changed ? config_cell(row.b) : "the same"});
  }
  return table.text();
}

std::string only_table(const std::string& file, const std::vector<store::Record>& records,
                       const DeviceNames& devices) {
  if (records.empty()) return "";
  Table table({{"problem"}, {"arch"}, {"device"}, {"us", kRight}, {"winner"}});
  for (const store::Record& record : records) {
    table.add({problem_cell(record), to_string(record.job.arch),
               device_name(devices, record.job.device_uuid), time_cell(time_us(record)),
               config_cell(record)});
  }
  return fmt::format("\nonly in {}\n{}", file, table.text());
}

ordered_json records_json(const std::vector<store::Record>& records) {
  ordered_json json = ordered_json::array();
  for (const store::Record& record : records) json.push_back(to_json(record));
  return json;
}

}  // namespace

std::string diff_text(const StoreDiff& diff) {
  std::string text = fmt::format("A: {}\nB: {}\n", diff.file_a, diff.file_b);
  if (!diff.rows.empty()) text += rows_table(diff);
  if (diff.rows.empty() && diff.within_threshold == 0) text += "no problem is in both\n";
  if (diff.within_threshold > 0)
    text += fmt::format("{} more within the threshold\n", diff.within_threshold);
  text += only_table(diff.file_a, diff.only_a, diff.devices);
  return text + only_table(diff.file_b, diff.only_b, diff.devices);
}

std::string diff_json(const StoreDiff& diff) {
  ordered_json json;
  json["a"] = diff.file_a;
  json["b"] = diff.file_b;
  json["rows"] = ordered_json::array();
  for (const DiffRow& row : diff.rows) {
    ordered_json entry;
    entry["problem"] = to_json(row.a.job.problem);
    entry["key"] = key(row.a.job.problem);
    entry["ratio"] = row.ratio ? ordered_json(*row.ratio) : ordered_json(nullptr);
    entry["winner_changed"] = row.winner_changed;
    entry["a"] = to_json(row.a);
    entry["b"] = to_json(row.b);
    json["rows"].push_back(std::move(entry));
  }
  json["within_threshold"] = diff.within_threshold;
  json["only_a"] = records_json(diff.only_a);
  json["only_b"] = records_json(diff.only_b);
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
