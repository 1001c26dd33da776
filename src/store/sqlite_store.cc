#include "store/sqlite_store.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "core/device.h"
#include "store/record_loader.h"
#include "store/record_rules.h"
#include "store/sql/claims.h"
#include "store/sql/records.h"
#include "store/sql/upkeep.h"
#include "store/timestamp.h"

namespace gemmtune::store {
namespace {

std::vector<int64_t> read_ids(SQLite::Statement& query) {
  std::vector<int64_t> ids;
  while (query.executeStep()) ids.push_back(query.getColumn("candidate_id").getInt64());
  return ids;
}

// A problem of the other type as wide is as far away as one of 1.1 times the size.
constexpr double kOtherTypeDistance = 0.1;

double log_distance(const Shape& a, const Shape& b) {
  const auto part = [](int64_t x, int64_t y) {
    return std::log(static_cast<double>(x)) - std::log(static_cast<double>(y));
  };
  return std::hypot(part(a.m, b.m), part(a.n, b.n), part(a.k, b.k));
}

double distance(const Problem& a, const Problem& b) {
  return log_distance(a.shape, b.shape) + (a.type == b.type ? 0 : kOtherTypeDistance);
}

auto problem_order(const Record& record) {
  const Problem& p = record.job.problem;
  return std::tuple(p.type, p.accumulator, p.math, to_string(p.layout), p.shape.m, p.shape.n,
                    p.shape.k, key(p), to_string(record.job.arch), record.job.device_uuid,
                    record.job.warm);
}

void sort_records(std::vector<Record>& records, ListOrder order) {
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return problem_order(a) < problem_order(b);
  });
  if (order == ListOrder::by_time) {
    std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
      return time_us(a).value_or(0) < time_us(b).value_or(0);
    });
  } else if (order == ListOrder::newest_first) {
    std::stable_sort(records.begin(), records.end(),
                     [](const Record& a, const Record& b) { return a.updated_at > b.updated_at; });
  }
}

// is_modelled(uuid) for statements.
void is_modelled_in_sql(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const unsigned char* const uuid = sqlite3_value_text(arguments[0]);
  const bool modelled = uuid != nullptr && is_modelled(reinterpret_cast<const char*>(uuid));
  sqlite3_result_int(context, modelled ? 1 : 0);
}

}  // namespace

SqliteStore::SqliteStore(SQLite::Database database, std::unique_ptr<LockWait> wait,
                         std::filesystem::path path, Clock now)
    : wait_(std::move(wait)),
      database_(std::move(database)),
      path_(std::move(path)),
      now_(std::move(now)) {
  constexpr bool kDeterministic = true;
  database_.createFunction("is_modelled", 1, kDeterministic, nullptr, is_modelled_in_sql);
}

Expected<void> SqliteStore::add_device(const Device& device) {
  if (auto checked = check_device(device); !checked) return checked;
  return guarded([&]() -> Expected<void> {
    SQLite::Statement insert(database_, sql::kUpsertDevice);
    bind_device(insert, device);
    insert.bind(":first_seen", to_timestamp(now_()));
    insert.exec();
    return {};
  });
}

Expected<std::vector<StoredDevice>> SqliteStore::devices() {
  return guarded([&]() -> Expected<std::vector<StoredDevice>> {
    std::vector<StoredDevice> devices;
    SQLite::Statement query(database_, sql::kSelectDevices);
    while (query.executeStep()) devices.push_back(read_device(query));
    return devices;
  });
}

Expected<std::optional<std::string>> SqliteStore::calibration(Arch arch) {
  return guarded([&]() -> Expected<std::optional<std::string>> {
    SQLite::Statement query(database_, sql::kSelectCalibration);
    query.bind(":arch", to_string(arch));
    if (!query.executeStep()) return std::nullopt;
    return query.getColumn("text").getString();
  });
}

Expected<void> SqliteStore::keep_calibration(Arch arch, const std::string& text) {
  return guarded([&]() -> Expected<void> {
    SQLite::Statement upsert(database_, sql::kUpsertCalibration);
    upsert.bind(":arch", to_string(arch));
    upsert.bind(":text", text);
    upsert.bind(":written_at", to_timestamp(now_()));
    upsert.exec();
    return {};
  });
}

Expected<int64_t> SqliteStore::begin_run(const RunInfo& run) {
  return guarded([&]() -> Expected<int64_t> {
    SQLite::Transaction transaction(database_, kWrite);
    SQLite::Statement insert(database_, sql::kInsertRun);
    insert.bind(":started_at", to_timestamp(now_()));
    insert.bind(":tool_version", run.tool_version);
    insert.bind(":compiler_version", run.compiler_version);
    insert.bind(":driver_version", run.driver_version);
    insert.bind(":options", run.options);
    insert.executeStep();
    const int64_t id = insert.getColumn("id").getInt64();
    insert.reset();
    transaction.commit();
    return id;
  });
}

Expected<int64_t> SqliteStore::record(const Record& record) {
  if (auto checked = check_record(record); !checked) return tl::unexpected(checked.error());
  return guarded([&]() -> Expected<int64_t> {
    SQLite::Transaction transaction(database_, kWrite);
    auto id = writer().write(record, to_timestamp(now_()));
    if (id) transaction.commit();
    return id;
  });
}

RecordWriter& SqliteStore::writer() {
  if (!writer_) writer_.emplace(database_);
  return *writer_;
}

std::optional<Record> SqliteStore::load(int64_t id) {
  return RecordLoader(database_).load(id);
}

std::vector<Record> SqliteStore::load_all(const std::vector<int64_t>& ids) {
  std::vector<Record> records;
  RecordLoader loader(database_);
  for (const int64_t id : ids) {
    if (auto record = loader.load(id)) records.push_back(*std::move(record));
  }
  return records;
}

std::optional<Record> SqliteStore::best_of(const std::string& problem_key, const Filter& filter) {
  SQLite::Statement query(database_, sql::kSelectBestId);
  query.bind(":problem_key", problem_key);
  bind_filter(query, filter);
  if (!query.executeStep()) return std::nullopt;
  return load(query.getColumn("candidate_id").getInt64());
}

Expected<std::optional<Record>> SqliteStore::best(const Problem& problem, const Filter& filter) {
  return guarded([&]() -> Expected<std::optional<Record>> {
    SQLite::Transaction snapshot(database_);
    return best_of(key(stored_form(problem)), filter);
  });
}

Expected<std::vector<Neighbour>> SqliteStore::near(const Problem& problem, const Filter& filter,
                                                   size_t limit) {
  const Problem form = stored_form(problem);
  return guarded([&]() -> Expected<std::vector<Neighbour>> {
    SQLite::Transaction snapshot(database_);
    SQLite::Statement query(database_, sql::kSelectSimilarProblems);
    query.bind(":key", key(form));
    query.bind(":type", std::string(to_string(form.type)));
    query.bind(":other_type", std::string(to_string(other_type_as_wide(form.type))));
    query.bind(":accumulator", std::string(to_string(form.accumulator)));
    query.bind(":math", std::string(to_string(form.math)));
    query.bind(":layout", to_string(form.layout));
    std::vector<std::pair<double, std::string>> similar;  // distance and key
    while (query.executeStep())
      similar.emplace_back(distance(form, read_problem(query)), query.getColumn("key").getString());
    std::sort(similar.begin(), similar.end());
    std::vector<Neighbour> neighbours;
    for (const auto& [away, problem_key] : similar) {
      if (neighbours.size() == limit) break;
      auto record = best_of(problem_key, filter);
      if (record) neighbours.push_back({away, *std::move(record)});
    }
    return neighbours;
  });
}

Expected<std::vector<Record>> SqliteStore::candidates(const Problem& problem,
                                                      const Filter& filter) {
  Filter all = filter;
  all.include_vendor = true;
  return guarded([&]() -> Expected<std::vector<Record>> {
    SQLite::Transaction snapshot(database_);
    SQLite::Statement query(database_, sql::kSelectCandidateIds);
    query.bind(":problem_key", key(stored_form(problem)));
    bind_filter(query, all);
    return load_all(read_ids(query));
  });
}

Expected<std::vector<Measurement>> SqliteStore::history(int64_t id) {
  return guarded([&]() -> Expected<std::vector<Measurement>> {
    std::vector<Measurement> measurements;
    SQLite::Statement query(database_, sql::kSelectMeasurements);
    query.bind(":candidate_id", id);
    while (query.executeStep()) measurements.push_back(read_measurement(query));
    return measurements;
  });
}

Expected<std::optional<Record>> SqliteStore::get(int64_t id) {
  return guarded([&]() -> Expected<std::optional<Record>> {
    SQLite::Transaction snapshot(database_);
    return load(id);
  });
}

Expected<std::vector<Record>> SqliteStore::list(const Filter& filter, ListOrder order) {
  return guarded([&]() -> Expected<std::vector<Record>> {
    SQLite::Transaction snapshot(database_);
    SQLite::Statement query(database_, sql::kSelectBestOfJobs);
    bind_filter(query, filter);
    std::vector<Record> records = load_all(read_ids(query));
    sort_records(records, order);
    return records;
  });
}

Expected<std::vector<Finished>> SqliteStore::done(const Job& job) {
  return guarded([&]() -> Expected<std::vector<Finished>> {
    std::vector<Finished> finished;
    SQLite::Statement query(database_, sql::kSelectDone);
    query.bind(":problem_key", key(stored_form(job.problem)));
    query.bind(":arch", to_string(job.arch));
    query.bind(":device_uuid", job.device_uuid);
    query.bind(":warm", static_cast<int>(job.warm));
    while (query.executeStep()) {
      finished.push_back({read_candidate_key(query), read_outcome(query)});
    }
    return finished;
  });
}

Expected<void> SqliteStore::check() {
  return guarded([&]() -> Expected<void> {
    SQLite::Statement integrity(database_, sql::kIntegrityCheck);
    integrity.executeStep();
    const std::string verdict = integrity.getColumn(0).getString();
    if (verdict != "ok") throw BadRow(verdict);
    SQLite::Statement orphans(database_, sql::kForeignKeyCheck);
    orphans.executeStep();
    if (orphans.getColumn(0).getInt() != 0) throw BadRow("a row refers to one that is missing");
    return {};
  });
}

}  // namespace gemmtune::store
