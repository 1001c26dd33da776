#include "cli/query/records_csv.h"

#include <fmt/format.h>

#include <variant>

#include "app/query/columns.h"
#include "cli/common/csv.h"

namespace gemmtune::cli {
namespace {

std::string field(const app::ColumnValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  return "";
}

}  // namespace

std::string records_csv(const std::vector<store::Record>& records,
                        const app::DeviceNames& devices) {
  const std::vector<app::RecordColumn> columns = app::record_columns(devices);
  std::string csv;
  for (const app::RecordColumn& column : columns) csv += (csv.empty() ? "" : ",") + column.name;
  csv += '\n';
  for (const store::Record& record : records) {
    bool first = true;
    for (const app::RecordColumn& column : columns) {
      if (!first) csv += ',';
      first = false;
      csv += field(column.value(record));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace gemmtune::cli
