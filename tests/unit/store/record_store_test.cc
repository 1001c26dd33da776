#include <doctest/doctest.h>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <thread>
#include <tuple>

#include "store/rows.h"
#include "store/timestamp.h"
#include "store_fixture.h"

namespace gemmtune::store {
namespace {

constexpr Outcome kOutcomes[] = {
    Outcome::ok,        Outcome::vendor,         Outcome::eliminated_early,
    Outcome::not_run,   Outcome::compile_failed, Outcome::illegal,
    Outcome::spilled,   Outcome::wrong_result,   Outcome::out_of_bounds,
    Outcome::unwritten, Outcome::launch_failed};
constexpr Provenance kProvenances[] = {Provenance::measured, Provenance::transferred,
                                       Provenance::predicted};

auto fields(const Measurement& m) {
  return std::tie(m.median_us, m.ci_low_us, m.ci_high_us, m.min_us, m.sample_count, m.samples_us,
                  m.sm_clock_min_mhz, m.sm_clock_median_mhz, m.power_w, m.throttle_reasons,
                  m.baseline_median_us, m.final_round, m.started_early);
}

auto fields(const Record& r) {
  return std::tie(r.job.arch, r.job.device_uuid, r.job.warm, r.key, r.provenance, r.outcome,
                  r.reason, r.registers, r.spill_bytes, r.smem_bytes, r.predicted_us, r.max_error,
                  r.vendor_max_error, r.run_id);
}

int64_t must_record(RecordStore& store, const Record& record) {
  const auto id = store.record(record);
  if (!id) FAIL(id.error().message);
  return *id;
}

Record must_get(RecordStore& store, int64_t id) {
  auto record = store.get(id);
  REQUIRE(record);
  REQUIRE(record->has_value());
  return **std::move(record);
}

// The error of a record that must be refused, after which nothing may have been stored.
Error refused(Sample& sample, const Record& record) {
  const auto id = sample.store->record(record);
  REQUIRE_FALSE(id);
  CHECK(id.error().message.find('\n') == std::string::npos);
  CHECK(sample.store->candidates(record.job.problem, {})->empty());
  return id.error();
}

TEST_CASE("names: every enumerator round-trips and stands in the database's tables") {
  const Sample sample;
  SQLite::Database database(sample.path().string());
  for (const Outcome outcome : kOutcomes) {
    CHECK(parse_outcome(to_string(outcome)) == outcome);
    SQLite::Statement query(database, "SELECT count(*) FROM outcomes WHERE name = ?");
    query.bind(1, std::string(to_string(outcome)));
    query.executeStep();
    CHECK(query.getColumn(0).getInt() == 1);
  }
  for (const Provenance provenance : kProvenances) {
    CHECK(parse_provenance(to_string(provenance)) == provenance);
  }
  CHECK(database.execAndGet("SELECT count(*) FROM outcomes").getInt() == std::size(kOutcomes));
  CHECK(database.execAndGet("SELECT count(*) FROM provenances").getInt() ==
        std::size(kProvenances));
  const auto unknown = parse_outcome("wrong_results");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("did you mean 'wrong_result'") != std::string::npos);
}

TEST_CASE("timestamps are ISO 8601 and sort as text") {
  const FakeClock clock;
  CHECK(to_timestamp(clock()) == "2025-01-31T00:00:00.000Z");
  clock.advance(std::chrono::milliseconds(86399999));
  CHECK(to_timestamp(clock()) == "2025-01-31T23:59:59.999Z");
  clock.advance(std::chrono::milliseconds(1));
  CHECK(to_timestamp(clock()) == "2025-02-01T00:00:00.000Z");
  CHECK(to_unix_ms(clock()) == 1738368000000);
}

TEST_CASE("record, get: every field comes back, also after reopening") {
  Sample sample;
  Record record = sample_record(sample.run);
  record.job.warm = true;
  record.job.arch = {9, 0, true};
  record.measurement->final_round = true;
  record.reason = "with 'quotes', \xC3\xA9 and a\nline break";
  const int64_t id = must_record(*sample.store, record);
  sample.store = must_open(sample.path());
  const Record read = must_get(*sample.store, id);
  CHECK(fields(read) == fields(record));
  CHECK(read.job.problem == record.job.problem);
  CHECK(read.id == id);
  CHECK_FALSE(read.stale);
  CHECK(read.updated_at == "2025-01-31T00:00:00.000Z");
  REQUIRE(read.measurement);
  CHECK(fields(*read.measurement) == fields(*record.measurement));
  CHECK(read.measurement->run_id == sample.run);
  CHECK(read.measurement->measured_at == read.updated_at);
  CHECK_FALSE(sample.store->get(id + 1)->has_value());
}

TEST_CASE("record: what is unknown stays unknown") {
  Sample sample;
  Record record = failed_record(sample.run, Outcome::wrong_result);
  record.max_error = std::numeric_limits<double>::infinity();
  const Record read = must_get(*sample.store, must_record(*sample.store, record));
  CHECK(fields(read) == fields(record));
  CHECK_FALSE(read.measurement);

  Record bare = sample_record(sample.run, 5, 1);
  Measurement& measurement = *bare.measurement;
  measurement.samples_us.clear();
  measurement.sm_clock_min_mhz = measurement.sm_clock_median_mhz = measurement.power_w =
      measurement.baseline_median_us = std::nullopt;
  const Record again = must_get(*sample.store, must_record(*sample.store, bare));
  CHECK(fields(*again.measurement) == fields(measurement));
}

TEST_CASE("record: every refusal leaves the store as it was") {
  Sample sample;
  const Record good = sample_record(sample.run);
  const auto refuse = [&](const auto& change, const std::string& part) {
    Record bad = good;
    change(bad);
    const Error error = refused(sample, bad);
    CHECK(error.kind == ErrorKind::usage);
    CHECK_MESSAGE(error.message.find(part) != std::string::npos, error.message);
  };
  refuse([](Record& r) { r.job.problem.lda = 1; }, "lda");
  refuse([](Record& r) { r.job.arch = {}; }, "arch");
  refuse([](Record& r) { r.job.device_uuid = "GPU-none"; }, "GPU-none");
  refuse([](Record& r) { r.job.device_uuid = "model-h200"; }, "GPU model");
  refuse([](Record& r) { r.job.device_uuid.clear(); }, "device");
  refuse([](Record& r) { r.key.strategy.clear(); }, "strategy");
  refuse([](Record& r) { r.run_id = 77; }, "run 77");
  refuse([](Record& r) { r.measurement.reset(); }, "needs a measurement");
  refuse([](Record& r) { r.provenance = Provenance::predicted; }, "no measurement");
  refuse([](Record& r) { r.outcome = Outcome::unwritten; }, "unwritten goes with no measurement");
  refuse([](Record& r) { r.predicted_us = 0; }, "predicted_us");
  refuse(
      [](Record& r) {
        r.provenance = Provenance::transferred;
        r.measurement.reset();
        r.predicted_us.reset();
      },
      "needs a time");
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    refuse([&](Record& r) { r.measurement->median_us = bad; }, "median_us");
    refuse([&](Record& r) { r.measurement->min_us = bad; }, "min_us");
  }
  refuse([](Record& r) { r.measurement->samples_us[1] = std::nan(""); }, "sample");
  refuse([](Record& r) { r.measurement->sample_count = 0; }, "samples");
}

TEST_CASE("problems: twins with a column-major C are one problem, unused strides are none") {
  Sample sample;
  Record record = sample_record(sample.run);
  const Shape shape{96, 40, 24};
  record.job.problem = make_problem(shape, DataType::f32, *parse_layout("tnn"));
  record.job.problem.stride_a = 123;  // batch is 1
  must_record(*sample.store, record);
  const Problem twin = canonical(make_problem(shape, DataType::f32, *parse_layout("tnn")));
  CHECK(twin.layout.c == Order::row_major);
  const auto best = sample.store->best(twin, {});
  REQUIRE(best->has_value());
  CHECK((*best)->job.problem == twin);
  CHECK(sample.store->list({}, ListOrder::by_problem)->size() == 1);
  CHECK_FALSE(sample.store->best(make_problem(shape, DataType::f32, *parse_layout("ttt")), {})
                  ->has_value());
}

TEST_CASE("problems: each epilogue and type of C is one of its own, and comes back") {
  Sample sample;
  Record record = sample_record(sample.run);
  const Problem plain = make_problem({96, 40, 24}, DataType::bf16);
  std::vector<Problem> problems = {plain};
  for (const Epilogue epilogue : {Epilogue{kBiasPerColumn, kGeluTanh},
                                  Epilogue{kBiasPerRow, kNoActivation}, Epilogue{kNoBias, kSilu}}) {
    problems.push_back(plain);
    problems.back().epilogue = epilogue;
  }
  problems.push_back(problems.back());
  problems.back().result = DataType::f32;
  for (const Problem& problem : problems) {
    record.job.problem = problem;
    must_record(*sample.store, record);
  }
  sample.store = must_open(sample.path());
  for (const Problem& problem : problems) {
    const auto found = sample.store->candidates(problem, {});
    REQUIRE(found->size() == 1);
    CHECK(found->front().job.problem == problem);
  }
  CHECK(sample.store->near(plain, {}, 10)->size() == problems.size() - 1);
}

TEST_CASE("problems of the other 16-bit type are near, those of other sums and f32 are not") {
  Sample sample;
  Record record = sample_record(sample.run);
  const Shape shape = {96, 40, 24};
  const Problem wanted = make_problem(shape, DataType::f16);
  Problem f16_sums = wanted;
  f16_sums.accumulator = DataType::f16;
  const Problem other = make_problem(shape, DataType::bf16);
  const Problem larger = make_problem({96, 40, 25}, DataType::f16);
  const Problem far = make_problem({96, 40, 32}, DataType::f16);
  for (const Problem& problem : {f16_sums, make_problem(shape), far, other, larger}) {
    record.job.problem = problem;
    must_record(*sample.store, record);
  }
  const auto near = sample.store->near(wanted, {}, 10);
  REQUIRE(near);
  REQUIRE(near->size() == 3);
  CHECK(near->at(0).record.job.problem == larger);
  CHECK(near->at(1).record.job.problem == other);
  CHECK(near->at(2).record.job.problem == far);
}

TEST_CASE("problems: the twin with a column-major C has the other bias") {
  Sample sample;
  Record record = sample_record(sample.run);
  Problem problem = make_problem({96, 40, 24}, DataType::f16, *parse_layout("tnn"));
  problem.epilogue = {kBiasPerColumn, kRelu};
  problem.result = DataType::f16;
  record.job.problem = problem;
  const Record read = must_get(*sample.store, must_record(*sample.store, record));
  CHECK(read.job.problem == canonical(problem));
  CHECK(read.job.problem.epilogue == Epilogue{kBiasPerRow, kRelu});
  CHECK_FALSE(read.job.problem.result);
}

TEST_CASE("history: measuring again adds a measurement, and the latest counts") {
  Sample sample;
  const int64_t id = must_record(*sample.store, sample_record(sample.run, 10));
  must_record(*sample.store, sample_record(sample.run, 11, 1));
  sample.clock.advance(std::chrono::seconds(5));
  CHECK(must_record(*sample.store, sample_record(sample.run, 12)) == id);
  const auto history = sample.store->history(id);
  REQUIRE(history->size() == 2);
  CHECK(history->at(0).median_us == 10);
  CHECK(history->at(1).median_us == 12);
  CHECK(history->at(1).measured_at == "2025-01-31T00:00:05.000Z");
  CHECK(must_get(*sample.store, id).measurement->median_us == 12);
  CHECK((*sample.store->best(sample_job().problem, {}))->key == sample_key(1));
  CHECK(sample.store->candidates(sample_job().problem, {})->size() == 2);
  CHECK(sample.store->history(id + 100)->empty());
}

TEST_CASE("history: a kernel that turns out wrong is no longer the best") {
  Sample sample;
  const int64_t id = must_record(*sample.store, sample_record(sample.run));
  must_record(*sample.store, failed_record(sample.run, Outcome::wrong_result));
  CHECK_FALSE(sample.store->best(sample_job().problem, {})->has_value());
  CHECK(must_get(*sample.store, id).outcome == Outcome::wrong_result);
  CHECK(sample.store->history(id)->size() == 1);
}

TEST_CASE("best: a new source or compiler makes the old row stale") {
  Sample sample;
  const int64_t old_id = must_record(*sample.store, sample_record(sample.run, 10));
  Record slower = sample_record(sample.run, 20);
  slower.key.source_hash = "fedcba9876543210";
  const int64_t new_id = must_record(*sample.store, slower);
  CHECK(must_get(*sample.store, old_id).stale);
  CHECK_FALSE(must_get(*sample.store, new_id).stale);
  CHECK((*sample.store->best(sample_job().problem, {}))->id == new_id);

  // A failure of the new source leaves the old row as the best there is, marked.
  slower.outcome = Outcome::unwritten;
  slower.measurement.reset();
  must_record(*sample.store, slower);
  const auto best = sample.store->best(sample_job().problem, {});
  REQUIRE(best->has_value());
  CHECK((*best)->id == old_id);
  CHECK((*best)->stale);

  // Measuring the old source again makes it current again.
  must_record(*sample.store, sample_record(sample.run, 10));
  CHECK_FALSE(must_get(*sample.store, old_id).stale);
  CHECK(must_get(*sample.store, new_id).stale);
}

TEST_CASE("provenance: a better one replaces, a lesser one leaves what is there") {
  Sample sample;
  Record record = sample_record(sample.run, 10);
  const auto with = [&](Provenance provenance, double predicted_us) {
    Record lesser = record;
    lesser.provenance = provenance;
    lesser.measurement.reset();
    lesser.predicted_us = predicted_us;
    return lesser;
  };
  const int64_t id = must_record(*sample.store, with(Provenance::predicted, 1));
  CHECK(must_record(*sample.store, with(Provenance::transferred, 2)) == id);
  CHECK(must_get(*sample.store, id).provenance == Provenance::transferred);
  CHECK(must_record(*sample.store, with(Provenance::predicted, 3)) == id);
  CHECK(must_get(*sample.store, id).predicted_us == 2);
  CHECK(must_record(*sample.store, record) == id);
  CHECK(must_get(*sample.store, id).provenance == Provenance::measured);
  CHECK(must_record(*sample.store, with(Provenance::transferred, 1)) == id);
  CHECK(must_get(*sample.store, id).provenance == Provenance::measured);
  CHECK(sample.store->history(id)->size() == 1);

  // A prediction never beats a measurement, however short.
  Record dream = with(Provenance::predicted, 0.001);
  dream.key = sample_key(9);
  must_record(*sample.store, dream);
  CHECK((*sample.store->best(record.job.problem, {}))->id == id);
}

TEST_CASE("best: vendors only where asked for") {
  Sample sample;
  Record vendor = sample_record(sample.run, 5);
  vendor.key = {"cublaslt", "rank=0 algo=11", "", "13.1.0"};
  vendor.outcome = Outcome::vendor;
  must_record(*sample.store, vendor);
  CHECK_FALSE(sample.store->best(vendor.job.problem, {})->has_value());
  CHECK(sample.store->list({}, ListOrder::by_problem)->empty());
  const int64_t own = must_record(*sample.store, sample_record(sample.run, 10));
  CHECK((*sample.store->best(vendor.job.problem, {}))->id == own);
  Filter filter;
  filter.include_vendor = true;
  CHECK((*sample.store->best(vendor.job.problem, filter))->key.strategy == "cublaslt");
  CHECK(sample.store->list(filter, ListOrder::by_problem)->front().key.strategy == "cublaslt");
  CHECK(sample.store->candidates(vendor.job.problem, {})->size() == 2);
}

TEST_CASE("devices: kept, updated, and apart from each other") {
  Sample sample;
  Device device = sample_device(kUuid);
  device.driver_version = 13010;
  sample.clock.advance(std::chrono::hours(1));
  REQUIRE(sample.store->add_device(device));
  const auto devices = sample.store->devices();
  REQUIRE(devices->size() == 2);
  const StoredDevice& stored = devices->front();
  CHECK(stored.device.uuid == kUuid);
  CHECK(stored.device.name == device.name);
  CHECK(stored.device.arch == device.arch);
  CHECK(stored.device.sm_count == device.sm_count);
  CHECK(stored.device.memory_bytes == device.memory_bytes);
  CHECK(stored.device.l2_bytes == device.l2_bytes);
  CHECK(stored.device.driver_version == 13010);
  CHECK(stored.first_seen == "2025-01-31T00:00:00.000Z");
  CHECK_FALSE(sample.store->add_device(Device{}));

  Record elsewhere = sample_record(sample.run, 1);
  elsewhere.job.device_uuid = kOtherUuid;
  must_record(*sample.store, elsewhere);
  must_record(*sample.store, sample_record(sample.run, 2));
  Filter filter;
  CHECK((*sample.store->best(sample_job().problem, filter))->job.device_uuid == kOtherUuid);
  filter.device_uuid = kUuid;
  CHECK((*sample.store->best(sample_job().problem, filter))->job.device_uuid == kUuid);
  filter.device_uuid = "";
  CHECK_FALSE(sample.store->best(sample_job().problem, filter)->has_value());
}

TEST_CASE("an arch that only a newer gemm-tune knows does not hide the other rows") {
  Sample sample;
  Device future = sample_device("GPU-future");
  future.arch = {12, 1, false};
  REQUIRE(sample.store->add_device(future));
  Record record = sample_record(sample.run);
  record.job.device_uuid = "GPU-future";
  record.job.arch = {12, 1, true};
  const int64_t id = must_record(*sample.store, record);
  CHECK(must_get(*sample.store, id).job.arch == record.job.arch);
  CHECK(sample.store->devices()->back().device.arch == future.arch);
}

TEST_CASE("threads may share one store") {
  Sample sample;
  constexpr int kThreads = 4;
  constexpr int kEach = 40;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        (void)sample.store->record(sample_record(sample.run, 10 + i, t * kEach + i));
        (void)sample.store->best(sample_job().problem, {});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sample.store->candidates(sample_job().problem, {})->size() == kThreads * kEach);
  CHECK(sample.store->check());
}

TEST_CASE("views for people show the same") {
  Sample sample;
  Record vendor = sample_record(sample.run, 8);
  vendor.key = {"cublaslt", "rank=0", "", "13.1.0"};
  vendor.outcome = Outcome::vendor;
  must_record(*sample.store, vendor);
  const int64_t id = must_record(*sample.store, sample_record(sample.run, 10));
  must_record(*sample.store, sample_record(sample.run, 11, 1));
  must_record(*sample.store, failed_record(sample.run, Outcome::spilled, 2));
  SQLite::Database database(sample.path().string());
  SQLite::Statement best(
      database,
      "SELECT id, time_us, vendor_time_us, speedup_over_vendor, tflops, operands "
      "FROM best_configs");
  REQUIRE(best.executeStep());
  CHECK(best.getColumn("id").getInt64() == id);
  CHECK(best.getColumn("time_us").getDouble() == 10);
  CHECK(best.getColumn("vendor_time_us").getDouble() == 8);
  CHECK(best.getColumn("speedup_over_vendor").getDouble() == doctest::Approx(0.8));
  CHECK(best.getColumn("tflops").getDouble() ==
        doctest::Approx(2.0 * 128 * 128 * 64 / 10e-6 / 1e12).epsilon(0.05));
  CHECK(best.getColumn("operands").getString() == "cold");
  CHECK_FALSE(best.executeStep());
  CHECK(database.execAndGet("SELECT count(*) FROM candidates_view").getInt() == 4);
  CHECK(database.execAndGet("SELECT outcome FROM failures").getString() == "spilled");
}

TEST_CASE("the queries of docs/database.md run") {
  Sample sample;
  must_record(*sample.store, sample_record(sample.run, 10));
  const std::string page =
      read_bytes(std::filesystem::path(GEMMTUNE_SOURCE_DIR) / "docs/database.md");
  const std::string opening = "```sql\n";
  const size_t begin = page.find(opening) + opening.size();
  REQUIRE(begin > opening.size());
  std::stringstream queries(page.substr(begin, page.find("```", begin) - begin));
  SQLite::Database database(sample.path().string());
  int count = 0;
  for (std::string query; std::getline(queries, query, ';');) {
    if (query.find("SELECT") == std::string::npos) continue;
    SQLite::Statement statement(database, query);
    while (statement.executeStep()) {
    }
    ++count;
  }
  CHECK(count >= 5);
}

TEST_CASE("calibrations: one for each arch, replaced by the next, and kept in the file") {
  Sample sample;
  const Arch hopper{9, 0, false};
  CHECK_FALSE(*sample.store->calibration(hopper));
  REQUIRE(sample.store->keep_calibration(hopper, "first"));
  REQUIRE(sample.store->keep_calibration({8, 0, false}, "other"));
  REQUIRE(sample.store->keep_calibration(hopper, "second"));
  CHECK(**sample.store->calibration(hopper) == "second");
  sample.store.reset();
  const auto again = must_open(sample.path());
  CHECK(**again->calibration(hopper) == "second");
  CHECK(**again->calibration({8, 0, false}) == "other");
  CHECK_FALSE(*again->calibration({7, 5, false}));
  CHECK(again->check());
}

}  // namespace
}  // namespace gemmtune::store
