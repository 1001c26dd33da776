// Which candidates are out of date.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "store/record_loader.h"
#include "store/sql/upkeep.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {
namespace {

struct Judged {
  int64_t id = 0;
  bool outdated = false;
  int driver_version = 0;
};

std::vector<Judged> read_judged(SQLite::Database& database) {
  std::vector<Judged> all;
  SQLite::Statement query(database, sql::kSelectJudged);
  while (query.executeStep()) {
    all.push_back({query.getColumn("id").getInt64(), query.getColumn("outdated").getInt() != 0,
                   query.getColumn("driver_version").getInt()});
  }
  return all;
}

bool was_judged_by(SQLite::Database& database, const std::string& fingerprint) {
  SQLite::Statement query(database, sql::kSelectFingerprint);
  return query.executeStep() && query.getColumn(0).getString() == fingerprint;
}

}  // namespace

Expected<int64_t> SqliteStore::judge(const Judge& judge) {
  return guarded([&]() -> Expected<int64_t> {
    if (was_judged_by(database_, judge.fingerprint)) return 0;
    SQLite::Transaction transaction(database_, kWrite);
    int64_t changed = 0;
    RecordLoader loader(database_);
    SQLite::Statement set(database_, sql::kSetOutdated);
    for (const Judged& known : read_judged(database_)) {
      const std::optional<Record> record = loader.load(known.id);
      const bool outdated = record && judge.is_outdated(*record, known.driver_version);
      if (outdated == known.outdated) continue;
      set.bind(":outdated", static_cast<int>(outdated));
      set.bind(":id", known.id);
      set.exec();
      set.reset();
      ++changed;
    }
    SQLite::Statement fingerprint(database_, sql::kSetFingerprint);
    fingerprint.bind(":fingerprint", judge.fingerprint);
    fingerprint.exec();
    if (changed > 0) write_winners();
    transaction.commit();
    return changed;
  });
}

}  // namespace gemmtune::store
