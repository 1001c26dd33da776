// SqliteStore's winners: the best of every job, kept in a table of one row a job.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <map>
#include <string>
#include <vector>

#include "store/sql/winners.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {
namespace {

// A job as the tables name it.
struct JobKey {
  int64_t problem_id = 0;
  std::string arch;
  int64_t device_id = 0;
  int warm = 0;
};

void bind_job(SQLite::Statement& statement, const JobKey& job) {
  statement.bind(":problem_id", job.problem_id);
  statement.bind(":arch", job.arch);
  statement.bind(":device_id", job.device_id);
  statement.bind(":warm", job.warm);
}

std::vector<JobKey> changed_jobs(SQLite::Database& database) {
  std::vector<JobKey> jobs;
  SQLite::Statement query(database, sql::kSelectChangedJobs);
  while (query.executeStep()) {
    jobs.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString(),
                    query.getColumn(2).getInt64(), query.getColumn(3).getInt()});
  }
  return jobs;
}

std::map<int64_t, std::string> device_uuids(SQLite::Database& database) {
  std::map<int64_t, std::string> uuids;
  SQLite::Statement query(database, sql::kSelectDeviceIds);
  while (query.executeStep())
    uuids.emplace(query.getColumn(0).getInt64(), query.getColumn(1).getString());
  return uuids;
}

// The columns of kSelectWinners and kSelectWinner. By number: names are looked up in a map, which
// for all columns of a row takes longer than reading it.
enum Columns : int {
  kProblemKey,
  kDeviceId,
  kArch,
  kStrategy,
  kConfig,
  kSourceHash,
  kCompilerVersion,
  kProvenance,
  kStale,
  kRegisters,
  kTimeUs,
  kRankUs,
  kVendorConfig,
  kVendorVersion,
  kVendorTimeUs,
  kVendorFirstUs,
};

std::string_view text(const SQLite::Statement& row, int column) {
  const SQLite::Column value = row.getColumn(column);
  const char* const data = value.getText();
  return {data, static_cast<size_t>(value.getBytes())};
}

Winner read_winner(const SQLite::Statement& row, const std::map<int64_t, std::string>& uuids) {
  Winner winner;
  winner.problem = text(row, kProblemKey);
  winner.arch = text(row, kArch);
  if (const int64_t device = row.getColumn(kDeviceId).getInt64(); device != 0) {
    const auto found = uuids.find(device);
    if (found == uuids.end()) throw BadRow("a winner refers to a device that is missing");
    winner.device_uuid = found->second;
  }
  if (!row.getColumn(kStrategy).isNull()) {
    const auto provenance = parse_provenance(text(row, kProvenance));
    if (!provenance) throw BadRow("column provenance: " + provenance.error().message);
    winner.kernel = {text(row, kStrategy),
                     text(row, kConfig),
                     text(row, kSourceHash),
                     text(row, kCompilerVersion),
                     *provenance,
                     row.getColumn(kStale).getInt() != 0,
                     row.getColumn(kRegisters).getInt(),
                     row.getColumn(kTimeUs).getDouble(),
                     row.getColumn(kRankUs).getDouble()};
  }
  if (!row.getColumn(kVendorConfig).isNull()) {
    // 0 for NULL.
    winner.vendor = {text(row, kVendorConfig), text(row, kVendorVersion),
                     row.getColumn(kVendorTimeUs).getDouble(),
                     row.getColumn(kVendorFirstUs).getDouble()};
  }
  return winner;
}

// Copies columns as they are.
class Copy {
 public:
  Copy(const SQLite::Statement& from, SQLite::Statement& to) : from_(from), to_(to) {}

  Copy& text(int column, const char* name) {
    if (!null(column, name)) to_.bind(name, from_.getColumn(column).getString());
    return *this;
  }
  Copy& integer(int column, const char* name) {
    if (!null(column, name)) to_.bind(name, from_.getColumn(column).getInt());
    return *this;
  }
  Copy& real(int column, const char* name) {
    if (!null(column, name)) to_.bind(name, from_.getColumn(column).getDouble());
    return *this;
  }

 private:
  bool null(int column, const char* name) {
    if (!from_.getColumn(column).isNull()) return false;
    to_.bind(name);
    return true;
  }

  const SQLite::Statement& from_;
  SQLite::Statement& to_;
};

}  // namespace

Expected<void> SqliteStore::winners(bool warm, const std::function<void(const Winner&)>& visit) {
  return guarded([&]() -> Expected<void> {
    SQLite::Transaction snapshot(database_);
    const auto uuids = device_uuids(database_);
    SQLite::Statement rows(database_, sql::kSelectWinners);
    rows.bind(":warm", static_cast<int>(warm));
    while (rows.executeStep()) visit(read_winner(rows, uuids));
    SQLite::Statement row(database_, sql::kSelectWinner);
    for (const JobKey& job : changed_jobs(database_)) {
      if ((job.warm != 0) != warm) continue;
      bind_job(row, job);
      if (row.executeStep()) visit(read_winner(row, uuids));
      row.reset();
    }
    return {};
  });
}

Expected<void> SqliteStore::update_winners() {
  return guarded([&]() -> Expected<void> {
    if (changed_jobs(database_).empty()) return {};
    SQLite::Transaction transaction(database_, kWrite);
    write_winners();
    transaction.commit();
    return {};
  });
}

// Within a write transaction.
void SqliteStore::write_winners() {
  SQLite::Statement remove(database_, sql::kDeleteWinner);
  SQLite::Statement row(database_, sql::kSelectWinner);
  SQLite::Statement insert(database_, sql::kInsertWinner);
  SQLite::Statement done(database_, sql::kDeleteChangedJob);
  for (const JobKey& job : changed_jobs(database_)) {
    bind_job(remove, job);
    remove.exec();
    bind_job(row, job);
    if (row.executeStep()) {
      bind_job(insert, job);
      Copy(row, insert)
          .text(kProblemKey, ":problem_key")
          .text(kStrategy, ":strategy")
          .text(kConfig, ":config")
          .text(kSourceHash, ":source_hash")
          .text(kCompilerVersion, ":compiler_version")
          .text(kProvenance, ":provenance")
          .integer(kStale, ":stale")
          .integer(kRegisters, ":registers")
          .real(kTimeUs, ":time_us")
          .real(kRankUs, ":rank_us")
          .text(kVendorConfig, ":vendor_config")
          .text(kVendorVersion, ":vendor_version")
          .real(kVendorTimeUs, ":vendor_time_us")
          .real(kVendorFirstUs, ":vendor_first_us");
      insert.exec();
      insert.reset();
    }
    row.reset();
    remove.reset();
    bind_job(done, job);
    done.exec();
    done.reset();
  }
}

}  // namespace gemmtune::store
