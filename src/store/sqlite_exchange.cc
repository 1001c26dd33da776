// SqliteStore's exchange of entries with other stores.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include "store/entry_loader.h"
#include "store/entry_merger.h"
#include "store/record_rules.h"
#include "store/sql/exchange.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {

Expected<void> SqliteStore::entries(const EntryQuery& query,
                                    const std::function<void(const Entry&)>& visit) {
  return guarded([&]() -> Expected<void> {
    SQLite::Transaction snapshot(database_);
    EntryLoader loader(database_);
    SQLite::Statement ids(database_, sql::kSelectEntryIds);
    bind_filter(ids, query.filter);
    ids.bind(":best_only", static_cast<int>(query.best_only));
    if (query.problem) ids.bind(":problem_key", key(stored_form(*query.problem)));
    while (ids.executeStep()) {
      const int64_t id = ids.getColumn("candidate_id").getInt64();
      const auto entry = loader.load(id);
      if (!entry) throw BadRow("candidate " + std::to_string(id) + " is missing");
      visit(*entry);
    }
    return {};
  });
}

Expected<std::optional<Entry>> SqliteStore::entry(int64_t id) {
  return guarded([&]() -> Expected<std::optional<Entry>> {
    SQLite::Transaction snapshot(database_);
    return EntryLoader(database_).load(id);
  });
}

Expected<MergeCounts> SqliteStore::merge(std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    if (auto checked = check_entry(entry); !checked) return tl::unexpected(checked.error());
  }
  return guarded([&]() -> Expected<MergeCounts> {
    SQLite::Transaction transaction(database_, kWrite);
    EntryMerger merger(database_);
    for (const Entry& entry : entries) merger.merge(entry);
    const MergeCounts& counts = merger.counts();
    // What came in was not judged.
    if (counts.added + counts.changed > 0) database_.exec(sql::kForgetFingerprint);
    transaction.commit();
    return counts;
  });
}

Expected<std::vector<Entry>> all_entries(RecordStore& store) {
  EntryQuery everything;
  everything.filter.warm.reset();
  everything.filter.include_vendor = true;
  std::vector<Entry> entries;
  const auto visited =
      store.entries(everything, [&](const Entry& entry) { entries.push_back(entry); });
  if (!visited) return tl::unexpected(visited.error());
  return entries;
}

}  // namespace gemmtune::store
