// Who tries which candidate of a job.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <limits>

#include "store/record_loader.h"
#include "store/record_rules.h"
#include "store/sql/claims.h"
#include "store/sqlite_store.h"
#include "store/timestamp.h"

namespace gemmtune::store {
namespace {

void bind_job_row(SQLite::Statement& statement, const JobRow& row, const Job& job) {
  statement.bind(":problem_id", row.problem_id);
  statement.bind(":arch", to_string(job.arch));
  if (row.device_id) {
    statement.bind(":device_id", *row.device_id);
  } else {
    statement.bind(":device_id");
  }
  statement.bind(":warm", static_cast<int>(job.warm));
}

bool counts(const ClaimRequest& request, SQLite::Statement& row) {
  return !request.budget || !request.budget->counts ||
         request.budget->counts(read_candidate_key(row));
}

// What counts toward the budget of a request.
struct Standing {
  int own = 0;     // claims of the owner
  int others = 0;  // and of others
  int recorded = 0;
};

Standing standing_of(SQLite::Database& database, const JobRow& row, const Job& job,
                     const ClaimRequest& request) {
  Standing standing;
  SQLite::Statement claims(database, sql::kSelectClaims);
  bind_job_row(claims, row, job);
  while (claims.executeStep()) {
    const bool own = claims.getColumn("owner").getString() == request.owner.id;
    if (counts(request, claims)) ++(own ? standing.own : standing.others);
  }
  if (!request.budget) return standing;
  SQLite::Statement recorded(database, sql::kSelectChangedKeys);
  bind_job_row(recorded, row, job);
  recorded.bind(":revision", request.budget->known);
  while (recorded.executeStep()) standing.recorded += counts(request, recorded) ? 1 : 0;
  return standing;
}

// Takes claims one by one, within a write transaction.
class Taker {
 public:
  Taker(SQLite::Database& database, const JobRow& row, const Job& job, const ClaimRequest& request,
        std::chrono::system_clock::time_point now)
      : row_(row),
        job_(job),
        finished_(database, sql::kCountFinished),
        take_(database, sql::kUpsertClaim) {
    finished_.bind(":repeat_until", request.repeat_until);
    const ProcessIdentity& process = request.owner.process;
    take_.bind(":owner", request.owner.id);
    take_.bind(":machine", process.machine);
    take_.bind(":pid", process.pid);
    take_.bind(":process_started", process.started);
    take_.bind(":expires_at_ms", to_unix_ms(now + request.lifetime));
  }

  ClaimState take(const CandidateKey& key) {
    bind_candidate_key(finished_, row_, job_, key);
    finished_.executeStep();
    const bool is_finished = finished_.getColumn(0).getInt() > 0;
    finished_.reset();
    if (is_finished) return ClaimState::finished;
    bind_candidate_key(take_, row_, job_, key);
    const bool taken = take_.exec() == 1;
    take_.reset();
    return taken ? ClaimState::granted : ClaimState::held;
  }

 private:
  const JobRow& row_;
  const Job& job_;
  SQLite::Statement finished_;
  SQLite::Statement take_;
};

}  // namespace

std::vector<size_t> Claims::granted() const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i] == ClaimState::granted) indices.push_back(i);
  }
  return indices;
}

Expected<int64_t> SqliteStore::revision() {
  return guarded([&]() -> Expected<int64_t> {
    SQLite::Statement query(database_, sql::kSelectRevision);
    query.executeStep();
    return query.getColumn("revision").getInt64();
  });
}

Expected<Changes> SqliteStore::changes(const Job& job, int64_t revision) {
  return guarded([&]() -> Expected<Changes> {
    SQLite::Transaction snapshot(database_);
    Changes changes;
    SQLite::Statement latest(database_, sql::kSelectRevision);
    latest.executeStep();
    changes.revision = latest.getColumn("revision").getInt64();
    SQLite::Statement query(database_, sql::kSelectChanges);
    query.bind(":revision", revision);
    query.bind(":problem_key", key(stored_form(job.problem)));
    query.bind(":arch", to_string(job.arch));
    query.bind(":device_uuid", job.device_uuid);
    query.bind(":warm", static_cast<int>(job.warm));
    RecordLoader loader(database_);
    while (query.executeStep()) {
      if (auto record = loader.load(query.getColumn("candidate_id").getInt64()))
        changes.records.push_back(*std::move(record));
    }
    return changes;
  });
}

// Those that ran out, and those of processes that ended without giving them back.
void SqliteStore::drop_dead_claims(const ClaimOwner& owner) {
  SQLite::Statement expired(database_, sql::kDeleteExpiredClaims);
  expired.bind(":now_ms", to_unix_ms(now_()));
  expired.exec();
  std::vector<std::string> dead;
  SQLite::Statement owners(database_, sql::kSelectClaimOwners);
  owners.bind(":machine", this_process().machine);
  owners.bind(":owner", owner.id);
  while (owners.executeStep()) {
    const ProcessIdentity process{owners.getColumn("machine").getString(),
                                  owners.getColumn("pid").getInt64(),
                                  owners.getColumn("started").getInt64()};
    if (has_ended(process)) dead.push_back(owners.getColumn("owner").getString());
  }
  SQLite::Statement remove(database_, sql::kDeleteClaimsOfOwner);
  for (const std::string& id : dead) {
    remove.bind(":owner", id);
    remove.exec();
    remove.reset();
  }
}

Expected<Claims> SqliteStore::claim(const Job& job, std::span<const CandidateKey> wanted,
                                    const ClaimRequest& request) {
  if (auto checked = check_job(job); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_claim(request); !checked) return tl::unexpected(checked.error());
  return guarded([&]() -> Expected<Claims> {
    SQLite::Transaction transaction(database_, kWrite);
    const auto row = writer().row_of(job);
    if (!row) return tl::unexpected(row.error());
    drop_dead_claims(request.owner);
    const Standing standing = standing_of(database_, *row, job, request);
    int budget_left = std::numeric_limits<int>::max();
    if (request.budget) {
      budget_left = request.budget->left - standing.own - standing.others - standing.recorded;
    }
    Claims claims;
    claims.held_by_others = standing.others;
    claims.newly_recorded = standing.recorded;
    claims.states.assign(wanted.size(), ClaimState::not_reached);
    Taker taker(database_, *row, job, request, now_());
    size_t granted = 0;
    for (size_t i = 0; i < wanted.size() && granted < request.limit && budget_left > 0; ++i) {
      claims.states[i] = taker.take(wanted[i]);
      if (claims.states[i] != ClaimState::granted) continue;
      ++granted;
      --budget_left;
    }
    claims.budget_used_up = budget_left <= 0;
    transaction.commit();
    return claims;
  });
}

Expected<void> SqliteStore::renew(const ClaimOwner& owner, std::chrono::seconds lifetime) {
  return guarded([&]() -> Expected<void> {
    SQLite::Statement extend(database_, sql::kExtendClaims);
    extend.bind(":owner", owner.id);
    extend.bind(":expires_at_ms", to_unix_ms(now_() + lifetime));
    extend.exec();
    return {};
  });
}

Expected<void> SqliteStore::release(const ClaimOwner& owner) {
  return guarded([&]() -> Expected<void> {
    SQLite::Transaction transaction(database_, kWrite);
    SQLite::Statement remove(database_, sql::kDeleteClaimsOfOwner);
    remove.bind(":owner", owner.id);
    remove.exec();
    write_winners();
    transaction.commit();
    return {};
  });
}

}  // namespace gemmtune::store
