#include "cli/query/diff_text.h"

#include <fmt/format.h>

#include "app/common/filter.h"
#include "app/common/record_facts.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string problem_cell(const store::Record& record) {
  return key(record.job.problem) + (record.job.warm ? " warm" : "");
}

std::string rows_table(const app::StoreDiff& diff) {
  Table table({{"problem"},
               {"arch"},
               {"device"},
               {"A us", kRight},
               {"B us", kRight},
               {"A/B", kRight},
               {"provenance"},
               {"winner in A"},
               {"winner in B"}});
  for (const app::DiffRow& row : diff.rows) {
    const std::string in_a(store::to_string(row.a.provenance));
    const std::string in_b(store::to_string(row.b.provenance));
    table.add({problem_cell(row.a), to_string(row.a.job.arch),
               app::device_name(diff.devices, row.a.job.device_uuid),
               time_cell(app::time_us(row.a)), time_cell(app::time_us(row.b)),
               row.ratio ? fmt::format("{:.3f}", *row.ratio) : "-",
               in_a == in_b ? in_a : fmt::format("{}, {}", in_a, in_b), config_cell(row.a),
               row.winner_changed ? config_cell(row.b) : "the same"});
  }
  return table.text();
}

std::string only_table(const std::string& file, const std::vector<store::Record>& records,
                       const app::DeviceNames& devices) {
  if (records.empty()) return "";
  Table table({{"problem"}, {"arch"}, {"device"}, {"us", kRight}, {"winner"}});
  for (const store::Record& record : records) {
    table.add({problem_cell(record), to_string(record.job.arch),
               app::device_name(devices, record.job.device_uuid), time_cell(app::time_us(record)),
               config_cell(record)});
  }
  return fmt::format("\nonly in {}\n{}", file, table.text());
}

}  // namespace

std::string diff_text(const app::StoreDiff& diff) {
  std::string text = fmt::format("A: {}\nB: {}\n", diff.file_a, diff.file_b);
  if (!diff.rows.empty()) text += rows_table(diff);
  if (diff.rows.empty() && diff.within_threshold == 0) text += "no problem is in both\n";
  if (diff.within_threshold > 0)
    text += fmt::format("{} more within the threshold\n", diff.within_threshold);
  text += only_table(diff.file_a, diff.only_a, diff.devices);
  return text + only_table(diff.file_b, diff.only_b, diff.devices);
}

}  // namespace gemmtune::cli
