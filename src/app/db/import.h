#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "store/exchange.h"
#include "store/record_store.h"

namespace gemmtune::app {

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

// Merges the good lines of `input` into the database in one transaction. Without any the database
// is not touched.
Expected<ImportReport> db_import(const Context& context, std::istream& input);

std::string import_json(const ImportReport& report);

}  // namespace gemmtune::app
