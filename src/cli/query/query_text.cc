#include "cli/query/query_text.h"

#include <fmt/format.h>

#include "app/common/filter.h"
#include "app/common/record_facts.h"
#include "cli/common/print.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"
#include "cli/query/records_csv.h"

namespace gemmtune::cli {
namespace {

std::string field_line(std::string_view name, std::string_view value) {
  return fmt::format("  {:<13}  {}\n", name, visible_line(value));
}

std::string versus_line(const char* name, const std::optional<store::Record>& vendor, double own) {
  if (!vendor) return "";
  const double other = *app::time_us(*vendor);
  return field_line(name, fmt::format("{} us, {:.3f}x of it ({})", time_cell(other), other / own,
                                      vendor->key.config));
}

std::string result_text(const app::QueryResult& result, const app::DeviceNames& devices) {
  const store::Record& best = result.best;
  const double own = *app::time_us(best);
  std::string text = visible_line(config_cell(best)) + "\n";
  text += field_line("time", fmt::format("{} us, {} TFLOP/s", time_cell(own), tflops_cell(best)));
  text += versus_line("cuBLASLt 1st", result.vendor_first, own);
  text += versus_line("cuBLASLt best", result.vendor_best, own);
  text += field_line("provenance", provenance_text(best, devices));
  text +=
      field_line("target", to_string(best.job.arch) + (best.job.warm ? ", operands in cache" : ""));
  text += field_line("resources",
                     fmt::format("{} registers per thread, {} B of shared memory per block",
                                 best.registers, best.smem_bytes));
  text += field_line("tile", best.key.config);
  if (!app::deterministic(best).value_or(true))
    text += field_line("rounding", "two runs may differ in the last bits");
  text += field_line("candidate",
                     fmt::format("{} ({}){}", best.id, best.updated_at,
                                 best.stale ? ", of an older source or compiler: tune again" : ""));
  return text;
}

std::string candidates_table(const app::QueryAnswer& answer) {
  Table table({{"id", kRight},
               {"strategy and tile"},
               {"time us", kRight},
               {"TFLOP/s", kRight},
               {"regs", kRight},
               {"smem B", kRight},
               {"outcome"},
               {"provenance"},
               {"arch"},
               {"device"},
               {"reason"}});
  for (const store::Record& record : answer.candidates) {
    table.add({std::to_string(record.id), config_cell(record), time_cell(app::time_us(record)),
               tflops_cell(record), std::to_string(record.registers),
               std::to_string(record.smem_bytes), std::string(store::to_string(record.outcome)),
               std::string(store::to_string(record.provenance)), to_string(record.job.arch),
               app::device_name(answer.devices, record.job.device_uuid), record.reason});
  }
  return table.text();
}

std::string neighbours_table(const app::QueryAnswer& answer) {
  Table table({{"distance", kRight},
               {"problem"},
               {"strategy and tile"},
               {"TFLOP/s", kRight},
               {"provenance"},
               {"arch"},
               {"id", kRight}});
  for (const store::Neighbour& neighbour : answer.neighbours) {
    const store::Record& record = neighbour.record;
    table.add({fmt::format("{:.3f}", neighbour.distance), key(record.job.problem),
               config_cell(record), tflops_cell(record),
               std::string(store::to_string(record.provenance)), to_string(record.job.arch),
               std::to_string(record.id)});
  }
  return table.text();
}

}  // namespace

std::string query_text(const app::QueryAnswer& answer) {
  std::string text = key(answer.problem) + "\n";
  if (answer.borrowed_from) {
    text += fmt::format(
        "  no result is stored for pointers that are multiples of {} bytes; these are for {}\n",
        answer.problem.align_bytes, answer.borrowed_from->align_bytes);
  }
  for (const app::QueryResult& result : answer.results) text += result_text(result, answer.devices);
  if (answer.results.empty()) text += "no result for exactly this problem\n";
  if (!answer.candidates.empty()) text += "\n" + candidates_table(answer);
  if (!answer.neighbours.empty()) text += "\nnearest problems\n" + neighbours_table(answer);
  return text;
}

std::string query_csv(const app::QueryAnswer& answer) {
  std::vector<store::Record> records = answer.candidates;
  if (records.empty()) {
    for (const app::QueryResult& result : answer.results) records.push_back(result.best);
  }
  for (const store::Neighbour& neighbour : answer.neighbours) records.push_back(neighbour.record);
  return records_csv(records, answer.devices);
}

}  // namespace gemmtune::cli
