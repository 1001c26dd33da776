// Databases and packs that are missing, damaged, foreign, newer, read-only or gone after the handle
// was made: a status and a message, never a crash.
#include <SQLiteCpp/Database.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

namespace fs = std::filesystem;

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  for (const char* ending : {"-wal", "-shm"}) fs::remove(path + ending);
  std::ofstream(path, std::ios::binary) << bytes;
}

struct Files : Library {
  Files()
      : problem(make_problem({32, 16, 8})),
        database(folder.file("t.db")),
        pack(folder.file("t.pack")) {
    const std::vector<Tuned> results = {
        {problem, naive_kernel(problem), 10, vendor_config(1), 20, fake_device().uuid}};
    define_kernel(fake, *results[0].kernel);
    write_database(database, results);
    write_pack(pack, results);
  }

  gemmtune_options of_database() const {
    gemmtune_options options = Library::options();
    options.database = database.c_str();
    return options;
  }
  gemmtune_options of_pack() const {
    gemmtune_options options = Library::options();
    options.pack = pack.c_str();
    return options;
  }
  static gemmtune_status try_create(const gemmtune_options& options) {
    gemmtune_handle handle = nullptr;
    const gemmtune_status status = gemmtune_create(&handle, &options);
    CHECK((handle == nullptr) == (status != GEMMTUNE_STATUS_SUCCESS));
    if (status != GEMMTUNE_STATUS_SUCCESS) {
      const std::string message = gemmtune_last_error(nullptr);
      CHECK_FALSE(message.empty());
      CHECK(message.find('\n') == std::string::npos);
    }
    gemmtune_destroy(handle);
    return status;
  }

  Problem problem;
  std::string database;
  std::string pack;
};

TEST_CASE("missing, empty, foreign and newer files") {
  const Files files;
  gemmtune_options options = files.of_database();
  options.database = "/no/such/folder/tuned.db";
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  options = files.of_pack();
  options.pack = "/no/such/folder/tuned.pack";
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  // Each where the other belongs.
  options.pack = files.database.c_str();
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  options = files.of_database();
  options.database = files.pack.c_str();
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  const std::string empty = files.folder.file("empty.db");
  write_bytes(empty, "");
  options.database = empty.c_str();
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  const std::string foreign = files.folder.file("foreign.db");
  SQLite::Database(foreign, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE songs (title TEXT)");
  options.database = foreign.c_str();
  CHECK(Files::try_create(options) == GEMMTUNE_STATUS_DATABASE);
  SQLite::Database(files.database, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 999");
  CHECK(Files::try_create(files.of_database()) == GEMMTUNE_STATUS_DATABASE);
  CHECK(std::string(gemmtune_last_error(nullptr)).find("version 999") != std::string::npos);
}

TEST_CASE("bit flips and cuts: a handle that works, or a status") {
  const Files files;
  std::mt19937 random(1);
  int served = 0;
  for (const std::string& path : {files.database, files.pack}) {
    const gemmtune_options options = path == files.pack ? files.of_pack() : files.of_database();
    const std::string good = read_bytes(path);
    for (int round = 0; round < 150; ++round) {
      CAPTURE(round);
      std::string bytes = good;
      if (round % 3 == 0) {
        bytes.resize(random() % good.size());
      } else {
        // A third of the bits in the first pages, where most depends on them.
        const size_t reach = round % 3 == 1 ? std::min<size_t>(good.size(), 8192) : good.size();
        for (int flips = 1 << (round % 6); flips > 0; --flips)
          bytes[random() % reach] ^= static_cast<char>(1 << (random() % 8));
      }
      write_bytes(path, bytes);
      gemmtune_handle handle = nullptr;
      const gemmtune_status status = gemmtune_create(&handle, &options);
      if (status != GEMMTUNE_STATUS_SUCCESS) {
        CHECK(status == GEMMTUNE_STATUS_DATABASE);
        continue;
      }
      ++served;
      const Handle owner(handle);
      CHECK(run(handle, files.problem, random) == GEMMTUNE_STATUS_SUCCESS);
    }
    write_bytes(path, good);
    CHECK(Files::try_create(options) == GEMMTUNE_STATUS_SUCCESS);
  }
  MESSAGE("usable all the same: ", served);
}

TEST_CASE("a file that is gone, or replaced, after the handle was made is not missed") {
  std::mt19937 random(2);
  for (const bool packed : {false, true}) {
    const Files files;
    const std::string cache = files.folder.file("cache");
    write_cache(cache, {naive_kernel(files.problem)});
    gemmtune_options options = packed ? files.of_pack() : files.of_database();
    if (!packed) options.cache_dir = cache.c_str();
    const Handle handle(files.create(options));
    const std::string path = packed ? files.pack : files.database;
    if (packed) {
      write_bytes(path, "something else");  // the same file, shorter
    } else {
      fs::remove(path);
    }
    CHECK(run(handle.get(), files.problem, random) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(files.fake.launches().size() == 1);
  }
}

TEST_CASE("read-only files in a read-only folder") {
  std::mt19937 random(3);
  const Files files;
  const std::string bytes = read_bytes(files.database);
  const fs::path folder = fs::path(files.database).parent_path();
  fs::permissions(files.database, fs::perms::owner_read);
  fs::permissions(files.pack, fs::perms::owner_read);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  for (const gemmtune_options& options : {files.of_database(), files.of_pack()}) {
    const Handle handle(files.create(options));
    CHECK(run(handle.get(), files.problem, random) == GEMMTUNE_STATUS_SUCCESS);
  }
  fs::permissions(folder, fs::perms::owner_all);
  CHECK(read_bytes(files.database) == bytes);
}

TEST_CASE("a cache folder with anything in it") {
  std::mt19937 random(4);
  const Files files;
  const std::string cache = files.folder.file("cache");
  write_cache(cache, {naive_kernel(files.problem)});
  gemmtune_options options = files.of_database();
  options.cache_dir = cache.c_str();
  for (const auto& entry : fs::recursive_directory_iterator(cache)) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "damaged";
  }
  const Handle handle(files.create(options));
  CHECK(run(handle.get(), files.problem, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(files.fake.launches().empty());    // the vendor's best
  options.cache_dir = files.pack.c_str();  // a file
  const Handle other(files.create(options));
  CHECK(run(other.get(), files.problem, random) == GEMMTUNE_STATUS_SUCCESS);
}

}  // namespace
}  // namespace gemmtune::dispatch_test
