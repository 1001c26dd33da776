#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "core/error.h"
#include "store/rows.h"

namespace gemmtune::store {

// Finds the rows that jobs refer to. Of many jobs, one object finds all: to prepare its statements
// takes longer than to run them.
class JobRows {
 public:
  explicit JobRows(SQLite::Database& database);

  // Within a write transaction: a problem that is not there is added. Usage error for a device that
  // is not. `form` is the problem in its stored form. Throws SQLite::Exception.
  Expected<JobRow> find_or_add(const Job& job, const Problem& form);

 private:
  SQLite::Statement device_;
  SQLite::Statement problem_;
  SQLite::Statement add_problem_;
};

}  // namespace gemmtune::store
