#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "store/entry_loader.h"
#include "store/job_rows.h"
#include "store/record_store.h"

namespace gemmtune::store {

// Merges entries into a database, within one write transaction. Its statements are prepared once:
// that takes longer than to run them, and other processes wait meanwhile.
class EntryMerger {
 public:
  explicit EntryMerger(SQLite::Database& database);

  // `entry` has passed check_entry(). Throws SQLite::Exception and BadRow.
  void merge(const Entry& entry);

  const MergeCounts& counts() const { return counts_; }

 private:
  using RunKey = std::tuple<std::string, std::string, std::string, int, std::string>;

  void merge_device(const StoredDevice& device);
  std::optional<int64_t> find_candidate(const JobRow& row, const Record& record);
  int64_t write_candidate(const JobRow& row, const Entry& entry, int64_t run_id);
  int64_t run_id(const StoredRun& run);
  int64_t find_or_add_run(const StoredRun& run);
  void write_timings(int64_t candidate_id, const std::vector<Timing>& known,
                     const std::vector<Timing>& timings);
  void order_revisions(const JobRow& row, const Record& record);
  void set_revision(int64_t candidate_id, int64_t revision);

  EntryLoader loader_;
  JobRows jobs_;
  SQLite::Statement replace_device_;
  SQLite::Statement find_candidate_;
  SQLite::Statement write_candidate_;
  SQLite::Statement find_run_;
  SQLite::Statement add_run_;
  SQLite::Statement remove_timings_;
  SQLite::Statement add_timing_;
  SQLite::Statement revisions_;
  SQLite::Statement set_revision_;
  std::map<RunKey, int64_t> runs_;              // those that were looked up
  std::map<std::string, std::string> devices_;  // by uuid: the one merged last, as text
  MergeCounts counts_;
};

}  // namespace gemmtune::store
