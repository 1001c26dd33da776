#include <doctest/doctest.h>

#include <SQLiteCpp/Database.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "store/migrations.h"
#include "store/path_check.h"
#include "store_fixture.h"

namespace gemmtune::store {
namespace {

namespace fs = std::filesystem;

Error open_error(const fs::path& path, bool read_only = false) {
  StoreOptions options;
  options.path = path;
  options.read_only = read_only;
  options.busy_timeout = std::chrono::milliseconds(100);
  const auto store = open_store(options);
  REQUIRE_FALSE(store);
  CHECK(store.error().message.find('\n') == std::string::npos);
  return store.error();
}

bool mentions(const Error& error, const std::string& part) {
  INFO(error.message);
  return error.message.find(part) != std::string::npos;
}

TEST_CASE("open: creates, and opens again what it created") {
  const TempDir dir;
  must_open(dir / "tuned.db");
  CHECK(fs::exists(dir / "tuned.db"));
  CHECK(must_open(dir / "tuned.db")->check());
  write_bytes(dir / "empty.db", "");
  CHECK(must_open(dir / "empty.db")->check());
  // Names that mean something in an SQLite URI, and a relative path.
  for (const char* name : {"a?b.db", "file:x.db", "a#b%20.db", ":memory:"}) {
    must_open(dir / name);
    CHECK(fs::exists(dir / name));
  }
}

TEST_CASE("open: a path that cannot be a database") {
  const TempDir dir;
  CHECK(open_error("").kind == ErrorKind::usage);
  Error error = open_error(dir / "no/such/tuned.db");
  CHECK(error.kind == ErrorKind::usage);
  CHECK(mentions(error, "is not a folder"));
  CHECK_FALSE(fs::exists(dir / "no"));
  error = open_error(dir.path());
  CHECK(error.kind == ErrorKind::usage);
  CHECK(mentions(error, "not a regular file"));
  CHECK(open_error("/dev/null").kind == ErrorKind::usage);
  write_bytes(dir / "text", "shopping list: milk, bread");
  error = open_error(dir / "text");
  CHECK(error.kind == ErrorKind::usage);
  CHECK(mentions(error, "not a gemm-tune database"));
  error = open_error(dir / "text/tuned.db");
  CHECK(error.kind == ErrorKind::usage);
}

TEST_CASE("open: create_directory makes the folders") {
  const TempDir dir;
  StoreOptions options;
  options.create_directory = true;
  must_open(dir / "a/b/tuned.db", options);
  CHECK(fs::exists(dir / "a/b/tuned.db"));
  write_bytes(dir / "file", "x");
  options.path = dir / "file/b/tuned.db";
  const auto store = open_store(options);
  REQUIRE_FALSE(store);
  CHECK(store.error().kind == ErrorKind::usage);
}

TEST_CASE("open: a store that is created, or was left empty, begins with what is shipped") {
  const TempDir dir;
  write_bytes(dir / "empty.db", "");
  SQLite::Database((dir / "no_tables.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA journal_mode = WAL");
  const SampleSet set("a set", 1);
  const ShippedResults unreadable{"a set", "this is no database"};
  StoreOptions options;
  for (const char* name : {"new.db", "empty.db", "no_tables.db"}) {
    CAPTURE(name);
    for (const ShippedResults& shipped : {set.results(), unreadable}) {  // it is read once
      options.shipped = shipped;
      const auto store = must_open(dir / name, options);
      CHECK(store->candidates(sample_job().problem, {})->size() == 1);
      CHECK(store->check());
    }
    StoreOptions reading;
    reading.read_only = true;
    int winners = 0;
    CHECK(must_open(dir / name, reading)->winners(false, [&](const Winner&) { ++winners; }));
    CHECK(winners == 1);
  }
}

TEST_CASE("open: where what is shipped cannot be read, the next one tries again") {
  const TempDir dir;
  StoreOptions options;
  options.path = dir / "tuned.db";
  options.shipped = {"a set", "this is no database"};
  CHECK_FALSE(open_store(options));
  CHECK_FALSE(open_memory_store(options.shipped));
  const SampleSet set("a set", 1);
  options.shipped = set.results();
  CHECK(must_open(options.path, options)->candidates(sample_job().problem, {})->size() == 1);
}

TEST_CASE("open: a newer version is refused, both versions named, the file untouched") {
  const TempDir dir;
  const fs::path path = dir / "tuned.db";
  must_open(path);
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 4711");
  const std::string bytes = read_bytes(path);
  for (const bool read_only : {false, true}) {
    const Error error = open_error(path, read_only);
    CHECK(error.kind == ErrorKind::usage);
    CHECK(mentions(error, "4711"));
    CHECK(mentions(error, "up to " + std::to_string(known_migrations().size())));
    CHECK(read_bytes(path) == bytes);
  }
}

TEST_CASE("open: another program's database is refused and untouched") {
  const TempDir dir;
  const fs::path path = dir / "other.db";
  {
    SQLite::Database other(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE bookmarks (url TEXT)");
  }
  const std::string bytes = read_bytes(path);
  const Error error = open_error(path);
  CHECK(error.kind == ErrorKind::usage);
  CHECK(mentions(error, "another program"));
  CHECK(read_bytes(path) == bytes);
}

TEST_CASE("open: read_only neither creates nor changes") {
  const TempDir dir;
  const fs::path path = dir / "tuned.db";
  CHECK(open_error(path, true).kind == ErrorKind::not_found);
  CHECK(open_error(dir / "no/tuned.db", true).kind == ErrorKind::not_found);
  CHECK_FALSE(fs::exists(path));
  write_bytes(dir / "empty.db", "");
  CHECK(open_error(dir / "empty.db", true).kind == ErrorKind::not_found);
  int64_t id = 0;
  {
    const auto store = must_open(path);
    id = *store->record(sample_record(prepare(*store)));
  }
  const std::string bytes = read_bytes(path);
  StoreOptions options;
  options.read_only = true;
  const auto store = must_open(path, options);
  CHECK((*store->get(id))->key == sample_key());
  const auto written = store->record(sample_record(1, 5));
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == ErrorKind::io);
  CHECK(mentions(written.error(), "not writable"));
  CHECK(read_bytes(path) == bytes);
}

TEST_CASE("open: read_only sees what a writer that is still open has written") {
  const TempDir dir;
  const auto writer = must_open(dir / "tuned.db");
  const int64_t id = *writer->record(sample_record(prepare(*writer)));
  StoreOptions options;
  options.read_only = true;
  CHECK((*must_open(dir / "tuned.db", options)->get(id))->key == sample_key());
}

// Runs `body` without the right to write everywhere that root has.
int as_nobody(const std::function<int()>& body) {
  return wait_for(spawn([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 98;
    return body();
  }));
}

TEST_CASE("open: a file or folder without write permission") {
  const TempDir dir;
  const fs::path path = dir / "tuned.db";
  int64_t id = 0;
  {
    const auto store = must_open(path);
    id = *store->record(sample_record(prepare(*store)));
  }
  chmod(path.c_str(), 0444);
  chmod(dir.path().c_str(), 0555);
  const std::string bytes = read_bytes(path);
  const int code = as_nobody([&] {
    StoreOptions options;
    options.path = path;
    const auto writable = open_store(options);
    if (writable || writable.error().kind != ErrorKind::usage) return 1;
    options.path = dir / "new.db";
    const auto fresh = open_store(options);
    if (fresh || fresh.error().kind != ErrorKind::usage) return 2;
    // Reading works even though SQLite cannot put its helper files beside the database.
    options.path = path;
    options.read_only = true;
    const auto readable = open_store(options);
    if (!readable) return 3;
    const auto record = (*readable)->get(id);
    return record && *record && (**record).key == sample_key() ? 0 : 4;
  });
  CHECK(code == 0);
  CHECK(read_bytes(path) == bytes);
  chmod(dir.path().c_str(), 0755);
  CHECK_FALSE(fs::exists(dir / "new.db"));
  chmod(path.c_str(), 0000);
  CHECK(as_nobody([&] {
          StoreOptions options;
          options.path = path;
          const auto store = open_store(options);
          return !store && store.error().kind == ErrorKind::usage ? 0 : 1;
        }) == 0);
}

TEST_CASE("open: a lock that is held too long is an io error, not a hang") {
  Sample sample;
  SQLite::Database blocker(sample.path().string(), SQLite::OPEN_READWRITE);
  blocker.exec("BEGIN IMMEDIATE");
  StoreOptions options;
  options.path = sample.path();
  options.busy_timeout = std::chrono::milliseconds(50);
  const auto store = open_store(options);
  if (store) {
    const auto id = (*store)->record(sample_record(sample.run));
    REQUIRE_FALSE(id);
    CHECK(id.error().kind == ErrorKind::io);
    CHECK(mentions(id.error(), "locked"));
    CHECK((*store)->list({}, ListOrder::by_problem));  // reading goes on
  } else {
    CHECK(store.error().kind == ErrorKind::io);
    CHECK(mentions(store.error(), "locked"));
  }
}

TEST_CASE(
    "open: who waits long for a lock is told once for each wait, and goes on when it is free") {
  Sample sample;
  SQLite::Database blocker(sample.path().string(), SQLite::OPEN_READWRITE);
  std::atomic<int> told = 0;
  StoreOptions options;
  options.on_long_wait = [&] { ++told; };
  const auto store = must_open(sample.path(), options);
  CHECK(told == 0);
  blocker.exec("BEGIN IMMEDIATE");
  auto written = std::async(std::launch::async, [&] { return store->begin_run({}).has_value(); });
  while (told == 0 && written.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
    continue;
  CHECK(told == 1);
  blocker.exec("COMMIT");
  CHECK(written.get());
  CHECK(told == 1);
}

TEST_CASE("network file systems are named and refused with a way out") {
  const std::pair<uint64_t, const char*> kNetwork[] = {
      {0x6969, "NFS"}, {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB2"}, {0x0BD00BD0, "Lustre"}};
  for (const auto& [type, name] : kNetwork) {
    const auto checked = check_local("/home/me/tuned.db", type);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::usage);
    for (const char* part : {"/home/me/tuned.db", name, "--db", "GEMM_TUNE_DB"}) {
      CHECK(mentions(checked.error(), part));
    }
  }
  for (const uint64_t local : {0xEF53U, 0x01021994U, 0x58465342U, 0x9123683EU, 0x794C7630U}) {
    CHECK(check_local("/home/me/tuned.db", local));  // ext4, tmpfs, xfs, btrfs, overlayfs
  }
}

}  // namespace
}  // namespace gemmtune::store
