#include "store/record_writer.h"

#include <SQLiteCpp/Column.h>

#include "store/prepared_use.h"
#include "store/sql/claims.h"
#include "store/sql/records.h"

namespace gemmtune::store {

RecordWriter::RecordWriter(SQLite::Database& database)
    : jobs_(database),
      run_(database, sql::kCountRun),
      claim_(database, sql::kDeleteClaim),
      known_(database, sql::kSelectCandidate),
      rank_(database, sql::kProvenanceRank),
      candidate_(database, sql::kUpsertCandidate),
      measurement_(database, sql::kInsertMeasurement) {}

Expected<int64_t> RecordWriter::write(const Record& record, const std::string& now) {
  if (!knows_run(record.run_id))
    return usage_error("the store does not know run " + std::to_string(record.run_id));
  const auto row = row_of(record.job);
  if (!row) return tl::unexpected(row.error());
  remove_claim(*row, record);
  if (const auto better = find_better(*row, record)) return *better;
  const int64_t id = write_candidate(*row, record, now);
  if (record.measurement) write_measurement(id, record, now);
  return id;
}

Expected<JobRow> RecordWriter::row_of(const Job& job) {
  return jobs_.find_or_add(job, stored_form(job.problem));
}

bool RecordWriter::knows_run(int64_t id) {
  const PreparedUse use(run_);
  run_.bind(":id", id);
  run_.executeStep();
  return run_.getColumn(0).getInt() > 0;
}

void RecordWriter::remove_claim(const JobRow& row, const Record& record) {
  const PreparedUse use(claim_);
  bind_candidate_key(claim_, row, record.job, record.key);
  claim_.exec();
}

// The candidate, if what is recorded of it is of better provenance than `record`.
std::optional<int64_t> RecordWriter::find_better(const JobRow& row, const Record& record) {
  const PreparedUse known_use(known_);
  bind_candidate_key(known_, row, record.job, record.key);
  if (!known_.executeStep()) return std::nullopt;
  const PreparedUse rank_use(rank_);
  rank_.bind(":name", std::string(to_string(record.provenance)));
  if (!rank_.executeStep()) throw BadRow("the table of provenances is incomplete");
  const bool is_better =
      known_.getColumn("provenance_rank").getInt() < rank_.getColumn("rank").getInt();
  return is_better ? std::optional(known_.getColumn("id").getInt64()) : std::nullopt;
}

int64_t RecordWriter::write_candidate(const JobRow& row, const Record& record,
                                      const std::string& now) {
  const PreparedUse use(candidate_);
  bind_candidate_key(candidate_, row, record.job, record.key);
  bind_candidate_values(candidate_, record);
  candidate_.bind(":now", now);
  candidate_.executeStep();
  return candidate_.getColumn("id").getInt64();
}

void RecordWriter::write_measurement(int64_t candidate_id, const Record& record,
                                     const std::string& now) {
  const Measurement& measurement = *record.measurement;
  const PreparedUse use(measurement_);
  bind_measurement(measurement_, measurement);
  measurement_.bind(":candidate_id", candidate_id);
  measurement_.bind(":run_id", record.run_id);
  measurement_.bind(":measured_at",
                    measurement.measured_at.empty() ? now : measurement.measured_at);
  measurement_.exec();
}

}  // namespace gemmtune::store
