#include "app/db/import.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/names.h"

namespace gemmtune::cli {
namespace {

namespace fs = std::filesystem;

Expected<ImportedLines> read_file(const std::string& file) {
  if (file == "-") return read_lines(std::cin);
  const std::string name = in_quotes(file);
  std::error_code error;
  if (!fs::exists(file, error)) return usage_error("there is no file " + name + " to import");
  if (fs::is_directory(file, error)) return usage_error(name + " is a folder; name a file in it");
  std::ifstream input(file, std::ios::binary);
  if (!input) return usage_error("cannot open " + name + " for reading");
  return read_lines(input);
}

}  // namespace

Expected<ImportedLines> read_lines(std::istream& input) {
  ImportedLines lines;
  std::string line;
  for (int64_t number = 1; std::getline(input, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto entry = store::parse_line(line);
    if (entry) {
      lines.entries.push_back(std::move(*entry));
    } else {
      lines.bad.push_back({number, std::move(entry.error().message)});
    }
  }
  if (input.bad()) return make_error(ErrorKind::io, "reading what is to be imported failed");
  return lines;
}

Expected<ImportReport> run_db_import(const Context& context, const std::string& file) {
  auto lines = read_file(file);
  if (!lines) return tl::unexpected(lines.error());
  ImportReport report;
  report.bad = std::move(lines->bad);
  if (lines->entries.empty()) return report;
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  auto counts = (*store)->merge(lines->entries);
  if (!counts) return tl::unexpected(counts.error());
  report.counts = *counts;
  static_cast<void>((*store)->update_winners());  // for whoever reads next; right without, too
  return report;
}

}  // namespace gemmtune::cli
