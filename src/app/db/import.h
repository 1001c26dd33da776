#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/common/services.h"

namespace gemmtune::cli {

struct BadLine {
  int64_t number = 0;  // from 1
  std::string why;
};

// Lines that were read.
struct ImportedLines {
  std::vector<store::Entry> entries;
  std::vector<BadLine> bad;
};

// Reads lines of store::to_line(); blank ones are passed over. ErrorKind::io if reading fails.
Expected<ImportedLines> read_lines(std::istream& input);

struct ImportReport {
  store::MergeCounts counts;
  std::vector<BadLine> bad;  // not imported
};

// Merges the good lines of `file` ("-": stdin) into the database in one transaction. Without any
// the database is not touched.
Expected<ImportReport> run_db_import(const Context& context, const std::string& file);

// Of the bad lines: the first ones and how many more there are, for stderr; empty for none.
std::string bad_lines_text(const ImportReport& report, const std::string& file);
std::string import_text(const ImportReport& report);
std::string import_json(const ImportReport& report);

}  // namespace gemmtune::cli
