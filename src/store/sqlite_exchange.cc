// SqliteStore's exchange of entries with other stores.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <algorithm>

#include "store/record_rules.h"
#include "store/sql.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {
namespace {

StoredRun read_run(SQLite::Statement& row) {
  StoredRun run;
  run.started_at = row.getColumn("started_at").getString();
  run.info.tool_version = row.getColumn("tool_version").getString();
  run.info.compiler_version = row.getColumn("run_compiler_version").getString();
  run.info.driver_version = row.getColumn("driver_version").getInt();
  run.info.options = row.getColumn("options").getString();
  return run;
}

void bind_run(SQLite::Statement& statement, const StoredRun& run) {
  statement.bind(":started_at", run.started_at);
  statement.bind(":tool_version", run.info.tool_version);
  statement.bind(":compiler_version", run.info.compiler_version);
  statement.bind(":driver_version", run.info.driver_version);
  statement.bind(":options", run.info.options);
}

std::optional<StoredDevice> find_device(SQLite::Database& database, const std::string& uuid) {
  SQLite::Statement query(database, sql::kSelectDevice);
  query.bind(":uuid", uuid);
  return query.executeStep() ? std::optional(read_device(query)) : std::nullopt;
}

// Whether the timings of `whole` begin with those of `part`.
bool begins_with(const std::vector<Timing>& whole, const std::vector<Timing>& part) {
  Entry a;
  Entry b;
  a.timings.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(
                                                      std::min(whole.size(), part.size())));
  b.timings = part;
  return to_line(a) == to_line(b);
}

}  // namespace

Entry SqliteStore::load_entry(int64_t id) {
  auto record = load(id);
  if (!record) throw BadRow("candidate " + std::to_string(id) + " is missing");
  Entry entry;
  entry.record = std::move(*record);
  entry.record.id = 0;
  entry.record.run_id = 0;
  entry.record.stale = false;
  entry.record.measurement.reset();
  SQLite::Statement rest(database_, sql::kSelectEntryRun);
  rest.bind(":id", id);
  if (!rest.executeStep()) throw BadRow("a candidate refers to a run that is missing");
  entry.created_at = rest.getColumn("created_at").getString();
  entry.run = read_run(rest);
  if (const std::string& uuid = entry.record.job.device_uuid; !uuid.empty())
    entry.device = find_device(database_, uuid);
  SQLite::Statement timings(database_, sql::kSelectTimings);
  timings.bind(":candidate_id", id);
  while (timings.executeStep()) {
    entry.timings.push_back({read_measurement(timings), read_run(timings)});
    entry.timings.back().measurement.run_id = 0;
  }
  return entry;
}

Expected<void> SqliteStore::entries(const EntryQuery& query,
                                    const std::function<void(const Entry&)>& visit) {
  return guarded([&]() -> Expected<void> {
    SQLite::Transaction snapshot(database_);
    SQLite::Statement ids(database_, sql::kSelectEntryIds);
    bind_filter(ids, query.filter);
    ids.bind(":best_only", static_cast<int>(query.best_only));
    if (query.problem) ids.bind(":problem_key", key(stored_form(*query.problem)));
    while (ids.executeStep()) visit(load_entry(ids.getColumn("candidate_id").getInt64()));
    return {};
  });
}

Expected<std::optional<Entry>> SqliteStore::entry(int64_t id) {
  return guarded([&]() -> Expected<std::optional<Entry>> {
    SQLite::Transaction snapshot(database_);
    if (!load(id)) return std::nullopt;
    return load_entry(id);
  });
}

Expected<MergeCounts> SqliteStore::merge(std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    if (auto checked = check_entry(entry); !checked) return tl::unexpected(checked.error());
  }
  return guarded([&]() -> Expected<MergeCounts> {
    MergeCounts counts;
    SQLite::Transaction transaction(database_, kWrite);
    for (const Entry& entry : entries) merge_entry(entry, counts);
    // What came in was not judged.
    if (counts.added + counts.changed > 0) database_.exec(sql::kForgetFingerprint);
    transaction.commit();
    return counts;
  });
}

void SqliteStore::merge_entry(const Entry& entry, MergeCounts& counts) {
  Entry incoming = entry;
  incoming.record.job.problem = stored_form(entry.record.job.problem);
  if (incoming.device) merge_device(*incoming.device);
  const auto row = job_row(incoming.record.job, incoming.record.job.problem);
  if (!row) throw BadRow(row.error().message);
  const auto id = find_candidate(*row, incoming.record);
  const std::optional<Entry> known = id ? std::optional(load_entry(*id)) : std::nullopt;
  Entry both = merged(known.value_or(incoming), incoming);
  if (known && to_line(*known) == to_line(both)) {
    ++counts.unchanged;
    return;
  }
  ++(known ? counts.changed : counts.added);
  both.record.run_id = run_row(both.run);
  SQLite::Statement write(database_, sql::kMergeCandidate);
  bind_candidate_key(write, *row, both.record.job, both.record.key);
  bind_candidate_values(write, both.record);
  write.bind(":created_at", both.created_at);
  write.bind(":updated_at", both.record.updated_at);
  write.executeStep();
  const int64_t written = write.getColumn("id").getInt64();
  write.reset();
  write_timings(written, known ? known->timings : std::vector<Timing>{}, both.timings);
  order_revisions(*row, both.record);
}

void SqliteStore::merge_device(const StoredDevice& device) {
  const auto known = find_device(database_, device.device.uuid);
  const StoredDevice both = known ? merged(*known, device) : device;
  SQLite::Statement write(database_, sql::kReplaceDevice);
  bind_device(write, both.device);
  write.bind(":first_seen", both.first_seen);
  write.exec();
}

std::optional<int64_t> SqliteStore::find_candidate(const JobRow& row, const Record& record) {
  SQLite::Statement query(database_, sql::kSelectCandidate);
  bind_candidate_key(query, row, record.job, record.key);
  if (!query.executeStep()) return std::nullopt;
  return query.getColumn("id").getInt64();
}

int64_t SqliteStore::run_row(const StoredRun& run) {
  SQLite::Statement find(database_, sql::kSelectRunId);
  bind_run(find, run);
  if (find.executeStep()) return find.getColumn("id").getInt64();
  SQLite::Statement insert(database_, sql::kInsertRun);
  bind_run(insert, run);
  insert.executeStep();
  return insert.getColumn("id").getInt64();
}

// The row with the highest id is the latest, so rows are rewritten where what is new is not.
void SqliteStore::write_timings(int64_t candidate_id, const std::vector<Timing>& known,
                                const std::vector<Timing>& timings) {
  size_t there = known.size();
  if (!begins_with(timings, known)) {
    SQLite::Statement remove(database_, sql::kDeleteMeasurements);
    remove.bind(":candidate_id", candidate_id);
    remove.exec();
    there = 0;
  }
  SQLite::Statement insert(database_, sql::kInsertMeasurement);
  for (size_t i = there; i < timings.size(); ++i) {
    bind_measurement(insert, timings[i].measurement);
    insert.bind(":candidate_id", candidate_id);
    insert.bind(":run_id", run_row(timings[i].run));
    insert.bind(":measured_at", timings[i].measurement.measured_at);
    insert.exec();
    insert.reset();
    insert.clearBindings();
  }
}

// Deals the revisions of what one strategy and config were tried as out anew, by the time they were
// written: that decides which is stale, wherever and in whatever order they were merged.
void SqliteStore::order_revisions(const JobRow& row, const Record& record) {
  SQLite::Statement query(database_, sql::kSelectRevisions);
  query.bind(":problem_id", row.problem_id);
  if (row.device_id) query.bind(":device_id", *row.device_id);
  query.bind(":arch", to_string(record.job.arch));
  query.bind(":warm", static_cast<int>(record.job.warm));
  query.bind(":strategy", record.key.strategy);
  query.bind(":config", record.key.config);
  std::vector<int64_t> ids;
  std::vector<int64_t> revisions;
  while (query.executeStep()) {
    ids.push_back(query.getColumn("id").getInt64());
    revisions.push_back(query.getColumn("revision").getInt64());
  }
  if (std::is_sorted(revisions.begin(), revisions.end())) return;
  std::sort(revisions.begin(), revisions.end());
  SQLite::Statement set(database_, sql::kSetRevision);
  const auto assign = [&](int64_t id, int64_t revision) {
    set.bind(":id", id);
    set.bind(":revision", revision);
    set.exec();
    set.reset();
  };
  // Revisions are unique at every moment.
  for (size_t i = 0; i < ids.size(); ++i) assign(ids[i], -revisions[i]);
  for (size_t i = 0; i < ids.size(); ++i) assign(ids[i], revisions[i]);
}

}  // namespace gemmtune::store
