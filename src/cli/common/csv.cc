#include "cli/common/csv.h"

#include <fmt/format.h>

#include "app/query/columns.h"

namespace gemmtune::cli {
namespace {

std::string field(const ColumnValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  return "";
}

}  // namespace

std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, "\"");
  return "\"" + text + "\"";
}

std::string records_csv(const std::vector<store::Record>& records, const DeviceNames& devices) {
  const std::vector<RecordColumn> columns = record_columns(devices);
  std::string csv;
  for (const RecordColumn& column : columns) csv += (csv.empty() ? "" : ",") + column.name;
  csv += '\n';
  for (const store::Record& record : records) {
    bool first = true;
    for (const RecordColumn& column : columns) {
      if (!first) csv += ',';
      first = false;
      csv += field(column.value(record));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace gemmtune::cli
