#include "store/record_loader.h"

#include "store/prepared_use.h"
#include "store/rows.h"
#include "store/sql/records.h"

namespace gemmtune::store {

RecordLoader::RecordLoader(SQLite::Database& database)
    : record_(database, sql::kSelectRecord),
      measurement_(database, sql::kSelectLatestMeasurement) {}

std::optional<Record> RecordLoader::load(int64_t id) {
  const PreparedUse record_use(record_);
  record_.bind(":id", id);
  if (!record_.executeStep()) return std::nullopt;
  Record record = read_record(record_);
  const PreparedUse measurement_use(measurement_);
  measurement_.bind(":candidate_id", id);
  if (measurement_.executeStep()) record.measurement = read_measurement(measurement_);
  return record;
}

}  // namespace gemmtune::store
