#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>

#include "store/record.h"

namespace gemmtune::store {

// Reads records with their latest measurements. Of many, one loader reads all: to prepare its
// statements takes longer than to run them.
class RecordLoader {
 public:
  explicit RecordLoader(SQLite::Database& database);

  // Nothing where no candidate has the id.
  std::optional<Record> load(int64_t id);

 private:
  SQLite::Statement record_;
  SQLite::Statement measurement_;
};

}  // namespace gemmtune::store
