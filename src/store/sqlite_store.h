#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "store/lock_wait.h"
#include "store/record_store.h"
#include "store/record_writer.h"
#include "store/rows.h"
#include "store/sqlite_error.h"

namespace gemmtune::store {

// Every write takes the lock at once: a transaction that reads first and then wants to write fails
// at once if another process wrote in between.
inline constexpr auto kWrite = SQLite::TransactionBehavior::IMMEDIATE;

// The record store in one SQLite file. Owns its connection; a mutex serialises the calls of
// threads, SQLite's locks those of processes.
class SqliteStore : public RecordStore {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  // `database` is open, at the last schema version and has its pragmas set (see open_store).
  // `wait` is how it waits for locks; none where there are no other processes.
  SqliteStore(SQLite::Database database, std::unique_ptr<LockWait> wait, std::filesystem::path path,
              Clock now);

  Expected<void> add_device(const Device& device) override;
  Expected<std::vector<StoredDevice>> devices() override;
  Expected<int64_t> begin_run(const RunInfo& run) override;
  Expected<int64_t> record(const Record& record) override;
  Expected<std::optional<Record>> best(const Problem& problem, const Filter& filter) override;
  Expected<std::vector<Neighbour>> near(const Problem& problem, const Filter& filter,
                                        size_t limit) override;
  Expected<std::vector<Record>> candidates(const Problem& problem, const Filter& filter) override;
  Expected<std::vector<Measurement>> history(int64_t id) override;
  Expected<std::optional<Record>> get(int64_t id) override;
  Expected<std::vector<Record>> list(const Filter& filter, ListOrder order) override;
  Expected<void> winners(bool warm, const std::function<void(const Winner&)>& visit) override;
  Expected<void> update_winners() override;
  Expected<std::vector<Finished>> done(const Job& job) override;
  Expected<int64_t> revision() override;
  Expected<Changes> changes(const Job& job, int64_t revision) override;
  Expected<Claims> claim(const Job& job, std::span<const CandidateKey> wanted,
                         const ClaimRequest& request) override;
  Expected<void> renew(const ClaimOwner& owner, std::chrono::seconds lifetime) override;
  Expected<void> release(const ClaimOwner& owner) override;
  Expected<void> entries(const EntryQuery& query,
                         const std::function<void(const Entry&)>& visit) override;
  Expected<std::optional<Entry>> entry(int64_t id) override;
  Expected<MergeCounts> merge(std::span<const Entry> entries) override;
  Expected<int64_t> judge(const Judge& judge) override;
  Expected<std::optional<std::string>> calibration(Arch arch) override;
  Expected<void> keep_calibration(Arch arch, const std::string& text) override;
  Expected<StoreInfo> info() override;
  Expected<PruneCounts> prune(const PruneRequest& request) override;
  Expected<void> check() override;

 private:
  // Runs `body` under the mutex and turns what it throws into an Error.
  template <class Body>
  auto guarded(Body body) -> decltype(body()) {
    const std::lock_guard lock(mutex_);
    try {
      return body();
    } catch (const SQLite::Exception& exception) {
      return tl::unexpected(to_error(exception, path_, Phase::working));
    } catch (const BadRow& bad) {
      return tl::unexpected(damage_error(bad.what(), path_));
    }
  }

  // The rows below expect the mutex held, and throw SQLite::Exception or BadRow.
  RecordWriter& writer();
  std::optional<Record> load(int64_t id);
  std::vector<Record> load_all(const std::vector<int64_t>& ids);
  std::optional<Record> best_of(const std::string& problem_key, const Filter& filter);
  void drop_dead_claims(const ClaimOwner& owner);
  void write_winners();

  std::mutex mutex_;
  std::unique_ptr<LockWait> wait_;  // the connection uses it to its end
  SQLite::Database database_;
  std::filesystem::path path_;
  Clock now_;
  std::optional<RecordWriter> writer_;  // since the first write
};

}  // namespace gemmtune::store
