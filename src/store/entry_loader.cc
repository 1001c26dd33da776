#include "store/entry_loader.h"

#include <SQLiteCpp/Column.h>

#include "store/prepared_use.h"
#include "store/rows.h"
#include "store/sql/exchange.h"

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

}  // namespace

EntryLoader::EntryLoader(SQLite::Database& database)
    : records_(database),
      run_(database, sql::kSelectEntryRun),
      device_(database, sql::kSelectDevice),
      timings_(database, sql::kSelectTimings) {}

std::optional<Entry> EntryLoader::load(int64_t id) {
  auto record = records_.load(id);
  if (!record) return std::nullopt;
  Entry entry;
  entry.record = std::move(*record);
  entry.record.id = 0;
  entry.record.run_id = 0;
  entry.record.stale = false;
  entry.record.measurement.reset();
  const PreparedUse run_use(run_);
  run_.bind(":id", id);
  if (!run_.executeStep()) throw BadRow("a candidate refers to a run that is missing");
  entry.created_at = run_.getColumn("created_at").getString();
  entry.run = read_run(run_);
  if (const std::string& uuid = entry.record.job.device_uuid; !uuid.empty())
    entry.device = device(uuid);
  const PreparedUse timings_use(timings_);
  timings_.bind(":candidate_id", id);
  while (timings_.executeStep()) {
    entry.timings.push_back({read_measurement(timings_), read_run(timings_)});
    entry.timings.back().measurement.run_id = 0;
  }
  return entry;
}

std::optional<StoredDevice> EntryLoader::device(const std::string& uuid) {
  const PreparedUse use(device_);
  device_.bind(":uuid", uuid);
  return device_.executeStep() ? std::optional(read_device(device_)) : std::nullopt;
}

}  // namespace gemmtune::store
