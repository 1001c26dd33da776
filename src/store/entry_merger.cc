#include "store/entry_merger.h"

#include <SQLiteCpp/Column.h>

#include <algorithm>

#include "core/json_text.h"
#include "store/entry_json.h"
#include "store/prepared_use.h"
#include "store/rows.h"
#include "store/sql/exchange.h"
#include "store/sql/records.h"

namespace gemmtune::store {
namespace {

void bind_run(SQLite::Statement& statement, const StoredRun& run) {
  statement.bind(":started_at", run.started_at);
  statement.bind(":tool_version", run.info.tool_version);
  statement.bind(":compiler_version", run.info.compiler_version);
  statement.bind(":driver_version", run.info.driver_version);
  statement.bind(":options", run.info.options);
}

// Whether the timings of `whole` begin with those of `part`.
bool begins_with(const std::vector<Timing>& whole, const std::vector<Timing>& part) {
  if (part.empty()) return true;
  Entry a;
  Entry b;
  a.timings.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(
                                                      std::min(whole.size(), part.size())));
  b.timings = part;
  return to_line(a) == to_line(b);
}

// merged() of an entry and itself: its timings may be in any order, and some twice.
Entry in_order(const Entry& entry) {
  return entry.timings.size() < 2 ? entry : merged(entry, entry);
}

}  // namespace

EntryMerger::EntryMerger(SQLite::Database& database)
    : loader_(database),
      jobs_(database),
      replace_device_(database, sql::kReplaceDevice),
      find_candidate_(database, sql::kSelectCandidate),
      write_candidate_(database, sql::kMergeCandidate),
      find_run_(database, sql::kSelectRunId),
      add_run_(database, sql::kInsertRun),
      remove_timings_(database, sql::kDeleteMeasurements),
      add_timing_(database, sql::kInsertMeasurement),
      revisions_(database, sql::kSelectRevisions),
      set_revision_(database, sql::kSetRevision) {}

void EntryMerger::merge(const Entry& entry) {
  Entry incoming = entry;
  incoming.record.job.problem = stored_form(entry.record.job.problem);
  if (incoming.device) merge_device(*incoming.device);
  const auto row = jobs_.find_or_add(incoming.record.job, incoming.record.job.problem);
  if (!row) throw BadRow(row.error().message);
  const auto id = find_candidate(*row, incoming.record);
  const std::optional<Entry> known = id ? loader_.load(*id) : std::nullopt;
  const Entry both = known ? merged(*known, incoming) : in_order(incoming);
  if (known && to_line(*known) == to_line(both)) {
    ++counts_.unchanged;
    return;
  }
  ++(known ? counts_.changed : counts_.added);
  const int64_t written = write_candidate(*row, both, run_id(both.run));
  write_timings(written, known ? known->timings : std::vector<Timing>{}, both.timings);
  order_revisions(*row, both.record);
}

void EntryMerger::merge_device(const StoredDevice& device) {
  const std::string text = to_text(device_json(device), kOneLine);
  std::string& last = devices_[device.device.uuid];
  if (last == text) return;
  last = text;
  const auto known = loader_.device(device.device.uuid);
  const StoredDevice both = known ? merged(*known, device) : device;
  const PreparedUse use(replace_device_);
  bind_device(replace_device_, both.device);
  replace_device_.bind(":first_seen", both.first_seen);
  replace_device_.exec();
}

std::optional<int64_t> EntryMerger::find_candidate(const JobRow& row, const Record& record) {
  const PreparedUse use(find_candidate_);
  bind_candidate_key(find_candidate_, row, record.job, record.key);
  if (!find_candidate_.executeStep()) return std::nullopt;
  return find_candidate_.getColumn("id").getInt64();
}

int64_t EntryMerger::write_candidate(const JobRow& row, const Entry& entry, int64_t run_id) {
  Record record = entry.record;
  record.run_id = run_id;
  const PreparedUse use(write_candidate_);
  bind_candidate_key(write_candidate_, row, record.job, record.key);
  bind_candidate_values(write_candidate_, record);
  write_candidate_.bind(":created_at", entry.created_at);
  write_candidate_.bind(":updated_at", record.updated_at);
  write_candidate_.executeStep();
  return write_candidate_.getColumn("id").getInt64();
}

int64_t EntryMerger::run_id(const StoredRun& run) {
  const auto [place, is_new] =
      runs_.try_emplace({run.started_at, run.info.tool_version, run.info.compiler_version,
                         run.info.driver_version, run.info.options});
  if (is_new) place->second = find_or_add_run(run);
  return place->second;
}

int64_t EntryMerger::find_or_add_run(const StoredRun& run) {
  {
    const PreparedUse use(find_run_);
    bind_run(find_run_, run);
    if (find_run_.executeStep()) return find_run_.getColumn("id").getInt64();
  }
  const PreparedUse use(add_run_);
  bind_run(add_run_, run);
  add_run_.executeStep();
  return add_run_.getColumn("id").getInt64();
}

// The row with the highest id is the latest, so rows are rewritten where what is new is not.
void EntryMerger::write_timings(int64_t candidate_id, const std::vector<Timing>& known,
                                const std::vector<Timing>& timings) {
  size_t there = known.size();
  if (!begins_with(timings, known)) {
    const PreparedUse use(remove_timings_);
    remove_timings_.bind(":candidate_id", candidate_id);
    remove_timings_.exec();
    there = 0;
  }
  for (size_t i = there; i < timings.size(); ++i) {
    const PreparedUse use(add_timing_);
    bind_measurement(add_timing_, timings[i].measurement);
    add_timing_.bind(":candidate_id", candidate_id);
    add_timing_.bind(":run_id", run_id(timings[i].run));
    add_timing_.bind(":measured_at", timings[i].measurement.measured_at);
    add_timing_.exec();
  }
}

// Deals the revisions of what one strategy and config were tried as out anew, by the time they were
// written: that decides which is stale, wherever and in whatever order they were merged.
void EntryMerger::order_revisions(const JobRow& row, const Record& record) {
  std::vector<int64_t> ids;
  std::vector<int64_t> revisions;
  {
    const PreparedUse use(revisions_);
    revisions_.bind(":problem_id", row.problem_id);
    if (row.device_id) revisions_.bind(":device_id", *row.device_id);
    revisions_.bind(":arch", to_string(record.job.arch));
    revisions_.bind(":warm", static_cast<int>(record.job.warm));
    revisions_.bind(":strategy", record.key.strategy);
    revisions_.bind(":config", record.key.config);
    while (revisions_.executeStep()) {
      ids.push_back(revisions_.getColumn("id").getInt64());
      revisions.push_back(revisions_.getColumn("revision").getInt64());
    }
  }
  if (std::is_sorted(revisions.begin(), revisions.end())) return;
  std::sort(revisions.begin(), revisions.end());
  // Revisions are unique at every moment.
  for (size_t i = 0; i < ids.size(); ++i) set_revision(ids[i], -revisions[i]);
  for (size_t i = 0; i < ids.size(); ++i) set_revision(ids[i], revisions[i]);
}

void EntryMerger::set_revision(int64_t candidate_id, int64_t revision) {
  const PreparedUse use(set_revision_);
  set_revision_.bind(":id", candidate_id);
  set_revision_.bind(":revision", revision);
  set_revision_.exec();
}

}  // namespace gemmtune::store
