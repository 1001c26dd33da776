#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "store/record_store.h"

namespace gemmtune::app {

struct BadLine {
  int64_t number = 0;  // from 1
  std::string why;
};

struct ImportReport {
  store::MergeCounts counts;
  std::vector<BadLine> bad;  // not imported
};

// Merges the good lines of `input`, of store::to_line(), into the database in one transaction;
// blank ones are passed over. Without any good ones the database is not touched. Usage error for
// what gzip wrote; ErrorKind::io if reading fails.
Expected<ImportReport> db_import(const Context& context, std::istream& input);

std::string import_json(const ImportReport& report);

}  // namespace gemmtune::app
