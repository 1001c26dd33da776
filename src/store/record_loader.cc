#include "store/record_loader.h"

#include "store/rows.h"
#include "store/sql/records.h"

namespace gemmtune::store {

RecordLoader::RecordLoader(SQLite::Database& database)
    : record_(database, sql::kSelectRecord),
      measurement_(database, sql::kSelectLatestMeasurement) {}

std::optional<Record> RecordLoader::load(int64_t id) {
  record_.reset();
  record_.bind(":id", id);
  if (!record_.executeStep()) return std::nullopt;
  Record record = read_record(record_);
  record_.reset();  // a statement that is not at its end keeps its snapshot of the database
  measurement_.reset();
  measurement_.bind(":candidate_id", id);
  if (measurement_.executeStep()) record.measurement = read_measurement(measurement_);
  measurement_.reset();
  return record;
}

}  // namespace gemmtune::store
