#include "store/migrations.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include <map>
#include <stdexcept>

#include "store_fixture.h"

namespace gemmtune::store {
namespace {

namespace fs = std::filesystem;

const int kWritable = SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;

int version_of(SQLite::Database& database) {
  return database.execAndGet("PRAGMA user_version").getInt();
}

// A store as an older version wrote it; version_N.sql is a dump of one and never changes.
void write_version(int version, const fs::path& path) {
  const std::string dump = "tests/unit/store/version_" + std::to_string(version) + ".sql";
  SQLite::Database(path.string(), kWritable).exec(read_bytes(fs::path(GEMMTUNE_SOURCE_DIR) / dump));
}

void write_version_1(const fs::path& path) {
  write_version(1, path);
}

TEST_CASE("an older schema is known without opening the store") {
  const TempDir dir;
  CHECK_FALSE(older_schema(dir / "none.db"));
  CHECK_FALSE(older_schema(dir.path()));
  write_bytes(dir / "text.db", "this is no database at all, just some text\n");
  CHECK_FALSE(older_schema(dir / "text.db"));
  write_bytes(dir / "empty.db", "");
  CHECK_FALSE(older_schema(dir / "empty.db"));
  SQLite::Database((dir / "foreign.db").string(), kWritable)
      .exec("CREATE TABLE x (y); PRAGMA user_version = 2");
  CHECK_FALSE(older_schema(dir / "foreign.db"));
  const fs::path old = dir / "old.db";
  write_version(9, old);
  const std::string before = read_bytes(old);
  CHECK(older_schema(old) == 9);
  CHECK(read_bytes(old) == before);
  must_open(old);
  CHECK_FALSE(older_schema(old));
}

TEST_CASE("migrations are numbered without a gap") {
  const auto& known = known_migrations();
  REQUIRE(known.size() >= 2);
  CHECK(known[0].version == 1);
  CHECK(known[0].name == "initial");
  const embedded::File sorted[] = {{"0002_b.sql", "B"}, {"0001_a_b.sql", "A"}};
  const auto read = read_migrations(sorted);
  CHECK(read[0].name == "a_b");
  CHECK(read[0].sql == "A");
  CHECK(read[1].version == 2);
  const std::vector<embedded::File> broken[] = {{{"0002_b.sql", ""}},
                                                {{"0001_a.sql", ""}, {"0001_b.sql", ""}},
                                                {{"0001_a.sql", ""}, {"0003_b.sql", ""}},
                                                {{"1_a.sql", ""}},
                                                {{"00001_a.sql", ""}},
                                                {{"0001.sql", ""}},
                                                {{"0001_a.txt", ""}},
                                                {{"", ""}}};
  for (const auto& files : broken) CHECK_THROWS_AS(read_migrations(files), std::logic_error);
}

void check_upgrade_of(int version) {
  CAPTURE(version);
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(version, path);
  must_open(dir / "new.db");
  const auto store = must_open(path);
  CHECK(schema_of(path) == schema_of(dir / "new.db"));
  CHECK(store->check());
  REQUIRE(store->devices()->size() == 1);
  Problem problem = make_problem({5120, 5120, 4096});
  problem.align_bytes = 16;  // what it was measured with
  const auto records = store->candidates(problem, {});
  REQUIRE(records->size() == 2);
  CHECK(records->at(0).outcome == Outcome::ok);
  CHECK(records->at(0).measurement->median_us == 4400.5);
  CHECK(records->at(0).measurement->samples_us == std::vector{4400.0, 4401.0});
  CHECK(records->at(1).outcome == Outcome::spilled);
  int winners = 0;
  REQUIRE(store->winners(false, [&](const Winner& winner) {
    ++winners;
    CHECK(winner.problem == "f32/f32/ieee/ttt/5120x5120x4096/align=16");
    REQUIRE(winner.kernel);
    CHECK(winner.kernel->time_us == 4400.5);
  }));
  CHECK(winners == 1);
  SQLite::Database database(path.string());
  CHECK(version_of(database) == static_cast<int>(known_migrations().size()));
}

TEST_CASE("an old file is upgraded, keeps its rows, and ends like a new one") {
  for (int version = 1; version < static_cast<int>(known_migrations().size()); ++version)
    check_upgrade_of(version);
}

// Candidates 11 and 12 of another problem: what won its final round, and what is faster by a
// search.
constexpr const char* kSearchedAndFinal = R"(
  INSERT INTO problems SELECT 2, 'f32/f32/ieee/ttt/64x64x64', type, accumulator, math, layout,
    64, 64, 64, 64, 64, 64, 1, 0, 0, 0, 16 FROM problems WHERE id = 1;
  INSERT INTO candidates SELECT n.id, 2, arch, device_id, warm, strategy, n.config, source_hash,
    compiler_version, provenance, outcome, reason, registers, spill_bytes, smem_bytes, predicted_us,
    max_error, vendor_max_error, run_id, n.id, created_at, updated_at, 0
    FROM candidates c, (SELECT 11 AS id, 'final' AS config UNION SELECT 12, 'searched') n
    WHERE c.id = 1;
  INSERT INTO measurements SELECT n.id, n.candidate_id, run_id, measured_at, n.time_us, n.time_us,
    n.time_us, n.time_us, n.samples, '[]', NULL, NULL, NULL, 0, NULL
    FROM measurements m, (SELECT 21 AS id, 11 AS candidate_id, 96 AS time_us, 5 AS samples
      UNION SELECT 22, 11, 100, 7 UNION SELECT 23, 12, 97, 5) n
    WHERE m.id = 1;
  INSERT INTO winners SELECT 2, arch, device_id, warm, 'f32/f32/ieee/ttt/64x64x64', strategy,
    'searched', source_hash, compiler_version, provenance, 0, registers, 97, NULL, NULL, NULL
    FROM winners;
  DELETE FROM changed_jobs;)";

TEST_CASE("version 4: what won a final round wins again") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(4, path);
  SQLite::Database(path.string(), kWritable).exec(kSearchedAndFinal);
  const auto store = must_open(path);
  Problem problem = make_problem({64, 64, 64});
  problem.align_bytes = 16;
  const auto best = store->best(problem, {});
  REQUIRE(best);
  REQUIRE(best->has_value());
  CHECK((*best)->key.config == "final");
  CHECK((*best)->measurement->median_us == 100);
  CHECK((*best)->measurement->final_round);
  CHECK_FALSE(store->history(11)->front().final_round);
  CHECK_FALSE(store->history(12)->front().final_round);
  CHECK(store->check());
  SQLite::Database database(path.string());
  CHECK(database.execAndGet("SELECT count(*) FROM changed_jobs").getInt() == 0);
  CHECK(database.execAndGet("SELECT config FROM winners WHERE problem_id = 2").getString() ==
        "final");
  CHECK(database.execAndGet("SELECT count(*) FROM winners WHERE rank_us > 0").getInt() == 2);
}

TEST_CASE("version 5: results stay with the alignment that they were measured at") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(5, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    INSERT INTO problems SELECT 10 + a.bytes, a.key, type, accumulator, math, layout, 5120, 5120,
      4096, lda, ldb, ldc, batch, stride_a, stride_b, stride_c, a.bytes FROM problems,
      (SELECT 4 AS bytes, 'f32/f32/ieee/ttt/5120x5120x4096/align=4' AS key UNION
       SELECT 256, 'f32/f32/ieee/ttt/5120x5120x4096/align=256') a WHERE id = 1;
    INSERT INTO winners SELECT 266, arch, device_id, warm,
      'f32/f32/ieee/ttt/5120x5120x4096/align=256', strategy, 'aligned', source_hash,
      compiler_version, provenance, 0, registers, 97, vendor_config, vendor_version, vendor_time_us,
      97 FROM winners;)");
  const auto store = must_open(path);
  std::map<std::string, int64_t> ids;
  SQLite::Database database(path.string());
  SQLite::Statement query(database, "SELECT key, id FROM problems");
  while (query.executeStep()) ids[query.getColumn(0).getString()] = query.getColumn(1).getInt64();
  CHECK(ids == std::map<std::string, int64_t>{{"f32/f32/ieee/ttt/5120x5120x4096", 266},
                                              {"f32/f32/ieee/ttt/5120x5120x4096/align=16", 1},
                                              {"f32/f32/ieee/ttt/5120x5120x4096/align=4", 14}});
  std::map<std::string, std::string> winners;
  REQUIRE(store->winners(false, [&](const Winner& winner) {
    winners[std::string(winner.problem)] = winner.kernel ? std::string(winner.kernel->config) : "";
  }));
  CHECK(winners.at("f32/f32/ieee/ttt/5120x5120x4096") == "aligned");
  CHECK(winners.contains("f32/f32/ieee/ttt/5120x5120x4096/align=16"));
}

TEST_CASE("version 7: parameters are respelled, and so are claims and winners") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(7, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    UPDATE candidates SET strategy = 'mma_stream_k',
      config = 'tile_m=64 stages=3 order=1 fragments=1 slices=264 unroll=2' WHERE id = 1;
    UPDATE candidates SET strategy = 'split_k', config = 'tile_m=64 stages=3 unroll=4' WHERE id = 2;
    UPDATE claims SET strategy = 'gemv', config = 'tile_m=1 stages=2 unroll=4';)");
  const auto store = must_open(path);
  CHECK(store->check());
  Problem problem = make_problem({5120, 5120, 4096});
  problem.align_bytes = 16;
  const auto records = store->candidates(problem, {});
  REQUIRE(records->size() == 2);
  constexpr std::string_view kRespelled =
      "tile_m=64 stages=3 order=1 copy=1 fragments=1 promotion=2 sharing_blocks=264";
  CHECK(records->at(0).key.config == kRespelled);
  CHECK(records->at(0).measurement->median_us == 4400.5);
  CHECK(records->at(1).key.config == "tile_m=64 stages=3 copy=1 unroll=4");  // no strategy has it
  REQUIRE(store->winners(false, [&](const Winner& winner) {
    REQUIRE(winner.kernel);
    CHECK(winner.kernel->config == kRespelled);
  }));
  SQLite::Database database(path.string());
  CHECK(database.execAndGet("SELECT config FROM claims").getString() ==
        "tile_m=1 copy=2 fragments=2 unroll=4");
}

TEST_CASE("version 8: problems have no epilogue, and C has the operands' type") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(8, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    INSERT INTO problems SELECT 2, 'bf16/f32/ieee/ttt/64x64x64', 'bf16', accumulator, math, layout,
      64, 64, 64, 64, 64, 64, 1, 0, 0, 0, 256 FROM problems WHERE id = 1;
    UPDATE candidates SET problem_id = 2 WHERE id = 2;)");
  const auto store = must_open(path);
  CHECK(store->check());
  const Problem problem = make_problem({64, 64, 64}, DataType::bf16);
  const auto records = store->candidates(problem, {});
  REQUIRE(records->size() == 1);
  CHECK(records->front().job.problem == problem);
  SQLite::Database database(path.string());
  CHECK(database
            .execAndGet("SELECT group_concat(result_type || ' ' || epilogue) FROM problems"
                        " ORDER BY id")
            .getString() == "f32 none,bf16 none");
}

TEST_CASE("version 9: mma_stream_k's slices are sharing_blocks, in claims and winners as well") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(9, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    UPDATE candidates SET strategy = 'mma_stream_k', config = 'tile_m=64 slices=264 raster=8'
      WHERE id = 1;
    UPDATE candidates SET strategy = 'mma_split_k', config = 'tile_m=64 slices=4' WHERE id = 2;
    UPDATE claims SET strategy = 'mma_stream_k', config = 'tile_m=64 slices=132';)");
  const auto store = must_open(path);
  CHECK(store->check());
  Problem problem = make_problem({5120, 5120, 4096});
  problem.align_bytes = 16;
  const auto records = store->candidates(problem, {});
  REQUIRE(records->size() == 2);
  constexpr std::string_view kRespelled = "tile_m=64 raster=8 sharing_blocks=264";
  CHECK(records->at(0).key.config == kRespelled);
  CHECK(records->at(0).measurement->median_us == 4400.5);
  CHECK(records->at(1).key.config == "tile_m=64 slices=4");
  REQUIRE(store->winners(false, [&](const Winner& winner) {
    REQUIRE(winner.kernel);
    CHECK(winner.kernel->config == kRespelled);
  }));
  SQLite::Database database(path.string());
  CHECK(database.execAndGet("SELECT config FROM claims").getString() ==
        "tile_m=64 sharing_blocks=132");
}

TEST_CASE("version 9: a row whose new spelling is another row's stays as it is") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(9, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    UPDATE candidates SET strategy = 'mma_stream_k', source_hash = 'same',
      config = iif(id = 1, 'tile_m=64 slices=264', 'tile_m=64 sharing_blocks=264');)");
  const auto store = must_open(path);
  CHECK(store->check());
  SQLite::Database database(path.string());
  CHECK(database.execAndGet("SELECT config FROM candidates WHERE id = 1").getString() ==
        "tile_m=64 slices=264");
}

// Of two kernels that differ by less than an early start was worth.
TEST_CASE("version 12: times of kernels on wgmma count as of early starts") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version(12, path);
  SQLite::Database(path.string(), kWritable).exec(R"(
    UPDATE candidates SET strategy = iif(id = 1, 'wgmma_split_k', 'mma_split_k'), outcome = 'ok';
    UPDATE measurements SET final_round = 1;
    INSERT INTO measurements SELECT 100, 2, run_id, measured_at, median_us + 0.9, ci_low_us,
      ci_high_us + 1, min_us, sample_count, samples_us, sm_clock_min_mhz, sm_clock_median_mhz,
      power_w, throttle_reasons, baseline_median_us, 1 FROM measurements WHERE candidate_id = 1;)");
  const auto store = must_open(path);
  CHECK(store->check());
  CHECK(store->history(1)->front().started_early);
  CHECK_FALSE(store->history(2)->front().started_early);
  REQUIRE(store->winners(false, [&](const Winner& winner) {
    REQUIRE(winner.kernel);
    CHECK(winner.kernel->strategy == "mma_split_k");
    CHECK(winner.kernel->rank_us == winner.kernel->time_us);
  }));
}

TEST_CASE("an old file that is opened read_only is refused and untouched") {
  const TempDir dir;
  const fs::path path = dir / "old.db";
  write_version_1(path);
  const std::string bytes = read_bytes(path);
  StoreOptions options;
  options.path = path;
  options.read_only = true;
  const auto store = open_store(options);
  REQUIRE_FALSE(store);
  CHECK(store.error().kind == ErrorKind::usage);
  CHECK(store.error().message.find("version 1, older") != std::string::npos);
  CHECK(read_bytes(path) == bytes);
}

TEST_CASE("processes that upgrade one file at the same time all succeed") {
  for (int round = 0; round < 5; ++round) {
    const TempDir dir;
    StoreOptions options;
    options.path = dir / "old.db";
    write_version_1(options.path);
    std::vector<pid_t> children;
    for (int process = 0; process < 4; ++process) {
      children.push_back(spawn([&] { return open_store(options) ? 0 : 1; }));
    }
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    CHECK(must_open(options.path)->check());
  }
}

TEST_CASE("a migration that fails leaves the file at the version it had") {
  const TempDir dir;
  const Migration steps[] = {{1, "a", "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);"},
                             {2, "b", "ALTER TABLE a RENAME TO b;"},
                             {3, "c", "INSERT INTO b VALUES (2); INSERT INTO missing VALUES (1);"}};
  SQLite::Database database((dir / "x.db").string(), kWritable);
  REQUIRE(migrate(database, std::span(steps).first(1), "x.db"));
  CHECK(version_of(database) == 1);
  CHECK_THROWS_AS((void)migrate(database, steps, "x.db"), SQLite::Exception);
  CHECK(version_of(database) == 1);
  CHECK(database.execAndGet("SELECT count(*) FROM a").getInt() == 1);
  REQUIRE(migrate(database, std::span(steps).first(2), "x.db"));
  CHECK(version_of(database) == 2);
  REQUIRE(migrate(database, std::span(steps).first(2), "x.db"));  // nothing left to do
  const auto newer = migrate(database, std::span(steps).first(1), "x.db");
  REQUIRE_FALSE(newer);
  CHECK(newer.error().kind == ErrorKind::usage);
}

}  // namespace
}  // namespace gemmtune::store
