#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "store/job_rows.h"
#include "store/record.h"
#include "store/rows.h"

namespace gemmtune::store {

// Writes records. Of many, one writer writes all: to prepare its statements takes longer than to
// run them. Every member expects a write transaction, and throws SQLite::Exception and BadRow.
class RecordWriter {
 public:
  explicit RecordWriter(SQLite::Database& database);

  // As RecordStore::record() of a record that has passed check_record(); `now` is a timestamp.
  Expected<int64_t> write(const Record& record, const std::string& now);

  // As JobRows::find_or_add().
  Expected<JobRow> row_of(const Job& job);

 private:
  bool knows_run(int64_t id);
  void remove_claim(const JobRow& row, const Record& record);
  std::optional<int64_t> find_better(const JobRow& row, const Record& record);
  int64_t write_candidate(const JobRow& row, const Record& record, const std::string& now);
  void write_measurement(int64_t candidate_id, const Record& record, const std::string& now);

  JobRows jobs_;
  SQLite::Statement run_;
  SQLite::Statement claim_;
  SQLite::Statement known_;
  SQLite::Statement rank_;
  SQLite::Statement candidate_;
  SQLite::Statement measurement_;
};

}  // namespace gemmtune::store
