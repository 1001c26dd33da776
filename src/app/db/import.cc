#include "app/db/import.h"

#include <istream>
#include <string>
#include <string_view>
#include <utility>

#include "app/common/records.h"
#include "store/exchange.h"

namespace gemmtune::app {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";  // what it begins with (RFC 1952)

struct ImportedLines {
  std::vector<store::Entry> entries;
  std::vector<BadLine> bad;
};

Expected<ImportedLines> read_lines(std::istream& input) {
  ImportedLines lines;
  std::string line;
  for (int64_t number = 1; std::getline(input, line); ++number) {
    if (number == 1 && line.starts_with(kGzip))
      return usage_error("that is compressed by gzip: zcat FILE | gemm-tune db import -");
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

}  // namespace

Expected<ImportReport> db_import(const Context& context, std::istream& input) {
  auto lines = read_lines(input);
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

}  // namespace gemmtune::app
