#include "store/shipped_rows.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <string>
#include <vector>

#include "store/database_image.h"
#include "store/entry_loader.h"
#include "store/entry_merger.h"
#include "store/record_rules.h"
#include "store/rows.h"
#include "store/shipped.h"
#include "store/sql/exchange.h"
#include "store/sql/upkeep.h"

namespace gemmtune::store {
namespace {

// All uuids of shipped devices, as GLOB has it.
std::string shipped_uuids() {
  return std::string(kShippedPrefix) + "*";
}

std::vector<int64_t> runs_of_shipped(SQLite::Database& database) {
  std::vector<int64_t> runs;
  SQLite::Statement query(database, sql::kSelectRunsOfDevices);
  query.bind(":uuids", shipped_uuids());
  while (query.executeStep()) runs.push_back(query.getColumn("run_id").getInt64());
  return runs;
}

void remove_candidates_of_shipped(SQLite::Database& database) {
  SQLite::Statement remove(database, sql::kDeleteCandidatesOfDevices);
  remove.bind(":uuids", shipped_uuids());
  remove.exec();
}

// Not every run without candidates: one may have begun in another process.
void remove_unused(SQLite::Database& database, const std::vector<int64_t>& runs) {
  database.exec(sql::kDeleteUnusedProblems);
  SQLite::Statement remove(database, sql::kDeleteRunIfUnused);
  for (const int64_t run : runs) {
    remove.bind(":id", run);
    remove.exec();
    remove.reset();
  }
}

Expected<void> merge_all(SQLite::Database& database, std::string_view image) {
  SQLite::Database shipped = view_of_image(image);
  EntryLoader loader(shipped);
  EntryMerger merger(database);
  SQLite::Statement ids(shipped, sql::kSelectCandidateIdsInOrder);
  while (ids.executeStep()) {
    const auto entry = loader.load(ids.getColumn("id").getInt64());
    if (!entry) throw BadRow("a candidate of the results that come with the program is missing");
    if (auto checked = check_entry(*entry); !checked) return checked;
    merger.merge(*entry);
  }
  return {};
}

}  // namespace

bool holds_shipped(SQLite::Database& database, std::string_view fingerprint) {
  SQLite::Statement query(database, sql::kSelectShipped);
  return query.executeStep() && query.getColumn(0).getString() == fingerprint;
}

void set_shipped(SQLite::Database& database, std::string_view fingerprint) {
  SQLite::Statement set(database, sql::kSetShipped);
  set.bind(":fingerprint", std::string(fingerprint));
  set.exec();
}

Expected<void> update_shipped(SQLite::Database& database, const ShippedResults& shipped) {
  if (holds_shipped(database, shipped.fingerprint)) return {};
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // Under the lock: another process may just have done it.
  if (holds_shipped(database, shipped.fingerprint)) return {};
  const std::vector<int64_t> runs = runs_of_shipped(database);
  remove_candidates_of_shipped(database);
  if (auto merged = merge_all(database, shipped.database); !merged) return merged;
  remove_unused(database, runs);
  database.exec(sql::kForgetFingerprint);  // what came in was not judged
  set_shipped(database, shipped.fingerprint);
  transaction.commit();
  return {};
}

}  // namespace gemmtune::store
