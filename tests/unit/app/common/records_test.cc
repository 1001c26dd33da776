#include "app/common/records.h"

#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <spdlog/logger.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../../test_folder.h"
#include "shipped/shipped_results.h"

namespace gemmtune::app {
namespace {

struct DefaultPlace {
  TestFolder folder;
  Context context;
  std::filesystem::path db = folder.path() / "gemm-tune" / "tuned.db";

  DefaultPlace() {
    context.environment.data_home = folder.path().string();
    context.log = std::make_shared<spdlog::logger>("silent");
  }
  int64_t candidates(bool read_only) const {
    const auto store = open_records(context, read_only);
    REQUIRE_MESSAGE(store.has_value(), store.error().message);
    return (*store)->info()->candidates;
  }
};

}  // namespace

TEST_CASE_FIXTURE(DefaultPlace, "the default database begins with what comes with the program") {
  const int64_t shipped = candidates(true);
  CHECK(shipped > 100);
  CHECK_FALSE(std::filesystem::exists(db));
  CHECK(candidates(false) == shipped);
  CHECK(candidates(true) == shipped);
}

TEST_CASE_FIXTURE(DefaultPlace,
                  "a default database whose creation was interrupted is begun again") {
  std::filesystem::create_directories(db.parent_path());
  folder.write("gemm-tune/tuned.db", "");
  const int64_t shipped = candidates(true);
  CHECK(shipped > 100);
  for (int time = 0; time < 2; ++time) {
    const auto to_read = database_to_read(context, folder.path());
    REQUIRE_MESSAGE(to_read.has_value(), to_read.error().message);
    CHECK(*to_read != db);
    context.places.db = to_read->string();
    CHECK(candidates(true) == shipped);
    context.places.db.clear();
  }
  CHECK(candidates(false) == shipped);
  CHECK(database_to_read(context, folder.path()) == db);
}

TEST_CASE_FIXTURE(DefaultPlace, "a default database of another version gets this one's results") {
  const auto forget = [&](const std::filesystem::path& path) {
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
        .exec("DELETE FROM candidates; UPDATE shipped_results SET fingerprint = 'another'");
  };
  const int64_t shipped = candidates(false);
  for (const bool read_only : {true, false}) {
    forget(db);
    CHECK(candidates(read_only) == shipped);
  }
  forget(db);
  CHECK(database_to_read(context, folder.path()) == db);
  CHECK(candidates(true) == shipped);
  // A database that the user names is the user's.
  forget(db);
  context.places.db = db.string();
  CHECK(candidates(false) == 0);
}

TEST_CASE_FIXTURE(DefaultPlace,
                  "a default database of an older schema is upgraded by any command") {
  const int64_t shipped = candidates(true);
  std::filesystem::create_directories(db.parent_path());
  std::ifstream dump(GEMMTUNE_SOURCE_DIR "/tests/unit/store/version_9.sql");
  SQLite::Database(db.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(std::string(std::istreambuf_iterator<char>(dump), {}));
  const int64_t own = 2;
  CHECK(candidates(true) == shipped + own);
}

TEST_CASE_FIXTURE(DefaultPlace, "another version's results serve where they cannot be replaced") {
  const int64_t shipped = candidates(false);
  SQLite::Database other(db.string(), SQLite::OPEN_READWRITE);
  other.exec("UPDATE shipped_results SET fingerprint = 'another'; BEGIN IMMEDIATE");
  CHECK(candidates(true) == shipped);
  other.exec("ROLLBACK");
  CHECK(store::holds_other_shipped(db, shipped::results().fingerprint));
  CHECK(candidates(true) == shipped);
  CHECK_FALSE(store::holds_other_shipped(db, shipped::results().fingerprint));
}

TEST_CASE_FIXTURE(DefaultPlace,
                  "a named database that is missing or empty has no shipped results") {
  context.places.db = folder.write("empty.db", "");
  for (const bool read_only : {true, false}) {
    const auto store = open_records(context, read_only);
    REQUIRE(store.has_value() != read_only);
    if (store) CHECK((*store)->info()->candidates == 0);
    if (!store) CHECK(store.error().kind == ErrorKind::not_found);
  }
}

}  // namespace gemmtune::app
