// SqliteStore's counts and removals.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "store/sql/upkeep.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {
namespace {

std::vector<std::pair<std::string, int64_t>> read_counts(SQLite::Database& database,
                                                         const char* statement) {
  std::vector<std::pair<std::string, int64_t>> counts;
  SQLite::Statement query(database, statement);
  while (query.executeStep())
    counts.emplace_back(query.getColumn("name").getString(), query.getColumn("number").getInt64());
  return counts;
}

int64_t read_number(SQLite::Database& database, const char* statement) {
  return database.execAndGet(statement).getInt64();
}

}  // namespace

Expected<StoreInfo> SqliteStore::info() {
  return guarded([&]() -> Expected<StoreInfo> {
    SQLite::Transaction snapshot(database_);
    StoreInfo info;
    info.schema_version = static_cast<int>(read_number(database_, "PRAGMA user_version"));
    info.file_bytes = read_number(database_, sql::kFileBytes);
    SQLite::Statement row(database_, sql::kCountRows);
    row.executeStep();
    info.devices = row.getColumn("devices").getInt64();
    info.problems = row.getColumn("problems").getInt64();
    info.runs = row.getColumn("runs").getInt64();
    info.candidates = row.getColumn("candidates").getInt64();
    info.stale = row.getColumn("stale").getInt64();
    info.measurements = row.getColumn("measurements").getInt64();
    info.claims = row.getColumn("claims").getInt64();
    info.first_write = row.getColumn("first_write").getString();
    info.last_write = row.getColumn("last_write").getString();
    info.outcomes = read_counts(database_, sql::kCountOutcomes);
    info.provenances = read_counts(database_, sql::kCountProvenances);
    return info;
  });
}

Expected<PruneCounts> SqliteStore::prune(const PruneRequest& request) {
  if (request.keep_measurements && *request.keep_measurements < 1)
    return usage_error("the latest measurement of a candidate has to stay");
  return guarded([&]() -> Expected<PruneCounts> {
    PruneCounts counts;
    SQLite::Transaction transaction(database_, kWrite);
    const int64_t measurements = read_number(database_, sql::kCountMeasurements);
    SQLite::Statement remove(database_, sql::kDeleteCandidates);
    remove.bind(":stale", static_cast<int>(request.stale));
    remove.bind(":failures", static_cast<int>(request.failures));
    if (request.not_since) remove.bind(":not_since", *request.not_since);
    counts.candidates = remove.exec();
    if (request.keep_measurements) {
      SQLite::Statement old(database_, sql::kDeleteOldMeasurements);
      old.bind(":keep", *request.keep_measurements);
      old.exec();
    }
    counts.measurements = measurements - read_number(database_, sql::kCountMeasurements);
    if (request.dry_run) return counts;  // the transaction is rolled back
    database_.exec(sql::kDeleteUnusedProblems);
    database_.exec(sql::kDeleteUnusedRuns);
    write_winners();
    transaction.commit();
    // Needs the file for itself; it may be had another time.
    static_cast<void>(database_.tryExec("VACUUM"));
    return counts;
  });
}

}  // namespace gemmtune::store
