#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "store_fixture.h"

// Damaged files: whatever is in them, the store answers with values and never crashes or throws.

namespace gemmtune::store {
namespace {

template <class T>
void check_one_line(const Expected<T>& result) {
  if (result) return;
  CHECK_FALSE(result.error().message.empty());
  CHECK(result.error().message.find('\n') == std::string::npos);
}

// The bytes of a closed store with a few rows of every kind.
std::string sample_bytes() {
  Sample sample;
  for (int i = 0; i < 40; ++i) {
    Record record = sample_record(sample.run, 10 + i, i);
    record.job.problem = make_problem({64 + i % 7, 64, 64});
    REQUIRE(sample.store->record(record));
    REQUIRE(sample.store->record(failed_record(sample.run, Outcome::compile_failed, 100 + i)));
  }
  ClaimRequest request;
  request.owner.id = "a";
  REQUIRE(sample.store->claim(sample_job(), std::vector{sample_key(999)}, request));
  sample.store.reset();
  return read_bytes(sample.path());
}

class Damaged {
 public:
  // Writes the bytes as a database without helper files of an earlier one.
  void put(const std::string& bytes) {
    for (const char* ending : {"-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path_.string() + ending);
    }
    write_bytes(path_, bytes);
  }

  // Opens it and uses everything; true if it opened.
  bool use(bool read_only) const {
    StoreOptions options;
    options.path = path_;
    options.read_only = read_only;
    options.busy_timeout = std::chrono::milliseconds(50);
    const auto store = open_store(options);
    check_one_line(store);
    if (!store) return false;
    RecordStore& s = **store;
    const Problem problem = make_problem({64, 64, 64});
    check_one_line(s.list({}, ListOrder::by_problem));
    check_one_line(s.candidates(sample_job().problem, {}));
    check_one_line(s.near(problem, {}, 10));
    check_one_line(s.best(problem, {}));
    check_one_line(s.devices());
    check_one_line(s.done(sample_job()));
    for (int64_t id = 1; id < 10; ++id) {
      check_one_line(s.get(id));
      check_one_line(s.history(id));
    }
    check_one_line(s.winners(false, [](const Winner&) {}));
    check_one_line(s.check());
    check_one_line(s.record(sample_record(1)));
    check_one_line(s.begin_run({}));
    check_one_line(s.release({"a", {}}));
    check_one_line(s.update_winners());
    return true;
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  TempDir dir_;
  std::filesystem::path path_ = dir_ / "damaged.db";
};

TEST_CASE("damage: random bytes are refused and left alone") {
  std::mt19937 random(1);
  Damaged damaged;
  for (const size_t size : {1, 15, 16, 17, 99, 100, 512, 4096, 20000}) {
    std::string bytes(size, '\0');
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    damaged.put(bytes);
    for (const bool read_only : {false, true}) {
      StoreOptions options;
      options.path = damaged.path();
      options.read_only = read_only;
      const auto store = open_store(options);
      REQUIRE_FALSE(store);
      CHECK(store.error().kind == ErrorKind::usage);
      CHECK(store.error().message.find("not a gemm-tune database") != std::string::npos);
      CHECK(read_bytes(damaged.path()) == bytes);
    }
  }
}

TEST_CASE("damage: a database's first bytes and then noise") {
  std::mt19937 random(2);
  const std::string good = sample_bytes();
  Damaged damaged;
  for (const size_t kept : {16, 40, 60, 100, 600, 4096}) {
    std::string bytes = good;
    std::generate(bytes.begin() + static_cast<std::ptrdiff_t>(kept), bytes.end(),
                  [&] { return static_cast<char>(random()); });
    damaged.put(bytes);
    CHECK_FALSE(damaged.use(true));
    damaged.put(bytes);
    CHECK_FALSE(damaged.use(false));
  }
}

TEST_CASE("damage: truncation at any length") {
  const std::string good = sample_bytes();
  Damaged damaged;
  size_t opened = 0;
  for (size_t length = 1; length < good.size(); length += length < 600 ? 37 : 1021) {
    CAPTURE(length);
    damaged.put(good.substr(0, length));
    damaged.use(length % 2 == 0);
    damaged.put(good.substr(0, length));
    opened += damaged.use(length % 2 == 1) ? 1 : 0;
  }
  MESSAGE("opened ", opened, " of the truncated files");
  damaged.put(good);
  CHECK(damaged.use(false));  // the undamaged file does open
}

TEST_CASE("damage: bit flips") {
  const std::string good = sample_bytes();
  std::mt19937 random(3);
  Damaged damaged;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::string bytes = good;
    const int flips = 1 << (round % 7);
    // A third of the rounds hit the header and the schema, where most depends on a bit.
    const size_t range = round % 3 == 0 ? 4096 : bytes.size();
    for (int i = 0; i < flips; ++i) bytes[random() % range] ^= static_cast<char>(1 << random() % 8);
    damaged.put(bytes);
    damaged.use(round % 2 == 0);
  }
}

TEST_CASE("damage: check() finds it") {
  const std::string good = sample_bytes();
  Damaged damaged;
  damaged.put(good);
  CHECK(must_open(damaged.path())->check());
  // Empty the page in the middle of the file: some table or index has lost rows.
  std::string bytes = good;
  const size_t page = bytes.size() / 2 / 4096 * 4096;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page), 4096, '\0');
  damaged.put(bytes);
  StoreOptions options;
  options.path = damaged.path();
  auto store = open_store(options);
  if (store) {
    const auto checked = (*store)->check();
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::io);
  }
}

}  // namespace
}  // namespace gemmtune::store
