#include <doctest/doctest.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "../rounds.h"
#include "store_fixture.h"

// Several processes on one file, and processes that die.

namespace gemmtune::store {
namespace {

constexpr int kCandidates = 1000000;  // more than any child gets to write

// A pipe for acknowledgements; one int each, written and read whole.
class Pipe {
 public:
  Pipe() { REQUIRE(pipe(ends_.data()) == 0); }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  bool send(int number) const {
    return write(ends_[1], &number, sizeof number) == static_cast<ssize_t>(sizeof number);
  }
  bool receive(int& number) const {
    return read(ends_[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number);
  }

 private:
  std::array<int, 2> ends_{};
};

std::set<std::string> stored_configs(RecordStore& store) {
  std::set<std::string> configs;
  const auto records = store.candidates(sample_job().problem, {});
  REQUIRE(records);
  for (const Record& record : *records) {
    configs.insert(record.key.config);
    // A row and its measurement are one transaction.
    CHECK(record.measurement.has_value());
    CHECK(store.history(record.id)->size() == 1);
  }
  return configs;
}

TEST_CASE("kill -9 while writing: what was acknowledged is there, nothing half is") {
  std::mt19937 random(7);
  for (int round = 0; round < 8; ++round) {
    CAPTURE(round);
    const TempDir dir;
    const auto path = dir / "tuned.db";
    int64_t run = 0;
    {
      const auto store = must_open(path);
      run = prepare(*store);
    }
    Pipe acknowledged;
    const pid_t child = spawn([&] {
      StoreOptions options;
      options.path = path;
      auto store = open_store(options);
      for (int i = 0; store && i < kCandidates; ++i) {
        if (!(*store)->record(sample_record(run, 10 + i, i)) || !acknowledged.send(i)) return 1;
      }
      return 2;
    });
    acknowledged.close_writer();
    int last = -1;
    const int wanted = 1 + static_cast<int>(random() % 60);
    while (last + 1 < wanted) REQUIRE(acknowledged.receive(last));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    CHECK(wait_for(child) == 1000 + SIGKILL);
    while (acknowledged.receive(last)) {
    }

    const auto store = must_open(path);
    CHECK(store->check());
    const auto configs = stored_configs(*store);
    for (int i = 0; i <= last; ++i) CHECK(configs.count(sample_key(i).config) == 1);
    CHECK(configs.size() <= static_cast<size_t>(last) + 2);  // at most one more, not acknowledged
    CHECK(store->done(sample_job())->size() == configs.size());
    CHECK(store->record(sample_record(run, 1, kCandidates)));
  }
}

// To close any descriptor of a file takes all locks that the process has on it. A process that ends
// deletes the WAL if it sees no locks of others.
TEST_CASE("the locks of a process outlast that it opens and closes the file again") {
  Sample sample;
  sample.store.reset();
  StoreOptions options;
  options.path = sample.path();
  StoreOptions reading = options;
  reading.read_only = true;
  Pipe stored;
  Pipe go_on;
  const pid_t holder = spawn([&] {
    const auto store = open_store(options);
    if (!store) return 1;
    for (const StoreOptions& again : {options, reading}) {
      const auto kept = open_store(again);
      if (!kept || !open_store(again)) return 2;
      int number = 0;
      if (!stored.send(0) || !go_on.receive(number)) return 3;
    }
    for (int i = 0; i < 3; ++i) {
      if (!(*store)->record(sample_record(sample.run, 10, i))) return 4;
    }
    stored.send(1);
    pause();
    return 5;
  });
  stored.close_writer();
  int number = 0;
  for (int again = 0; again < 2; ++again) {
    REQUIRE(stored.receive(number));
    const pid_t writer = spawn([&] {
      const auto store = open_store(options);
      return store && (*store)->begin_run({}) ? 0 : 1;
    });
    CHECK(wait_for(writer) == 0);
    CHECK(std::filesystem::exists(sample.path().string() + "-wal"));
    REQUIRE(go_on.send(0));
  }
  REQUIRE(stored.receive(number));
  kill(holder, SIGKILL);
  CHECK(wait_for(holder) == 1000 + SIGKILL);
  const auto store = must_open(sample.path());
  CHECK(stored_configs(*store).size() == 3);
  CHECK(store->check());
}

// Whether another process would find a whole store there.
bool is_whole(const StoreOptions& options) {
  StoreOptions reading = options;
  reading.read_only = true;
  return open_store(reading).has_value();
}

TEST_CASE("kill -9 while creating: the next process finds or makes a whole store") {
  constexpr int kWantedHits = 8;  // deaths between the file's first byte and its last
  std::mt19937 random(8);
  int hits = 0;
  const SampleSet set("a set", 1);
  for (int round = 0; round < 2000 && hits < kWantedHits; ++round) {
    CAPTURE(round);
    const TempDir dir;
    StoreOptions options;
    options.path = dir / "tuned.db";
    options.shipped = set.results();
    const pid_t child = spawn([&] { return open_store(options) ? 0 : 1; });
    while (!std::filesystem::exists(options.path)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    const bool was_killed = wait_for(child) == 1000 + SIGKILL;
    if (was_killed && !is_whole(options)) ++hits;
    const auto store = must_open(options.path, options);
    CHECK(store->check());
    CHECK(stored_configs(*store).size() == 1);
    CHECK(store->record(sample_record(prepare(*store), 10, 1)));
  }
  CHECK(hits == kWantedHits);
}

TEST_CASE("kill -9 while another set of shipped results comes in: the store has one of both") {
  constexpr int kRounds = rounds(100);
  std::mt19937 random(9);
  const TempDir dir;
  StoreOptions options;
  options.path = dir / "tuned.db";
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    const SampleSet set(std::to_string(round), round);
    options.shipped = set.results();
    const pid_t child = spawn([&] { return open_store(options) ? 0 : 1; });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(child, SIGKILL);
    wait_for(child);
    const auto store = must_open(options.path);
    CHECK(store->check());
    const auto configs = stored_configs(*store);
    CHECK(configs.size() <= 1);  // none where the first was killed before it made the file
    CHECK(holds_other_shipped(options.path, std::to_string(round)) ==
          (configs.count(sample_key(round).config) == 0));
  }
}

TEST_CASE("two processes that write at the same time: nothing is lost") {
  Sample sample;
  sample.store.reset();
  constexpr int kEach = rounds(1000);
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(spawn([&, process] {
      StoreOptions options;
      options.path = sample.path();
      auto store = open_store(options);
      if (!store) return 1;
      for (int i = 0; i < kEach; ++i) {
        if (!(*store)->record(sample_record(sample.run, 10, process * kEach + i))) return 2;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  const auto store = must_open(sample.path());
  CHECK(stored_configs(*store).size() == 2 * kEach);
  CHECK(store->check());
}

TEST_CASE("two processes re-measuring the same candidates: every measurement is kept") {
  Sample sample;
  sample.store.reset();
  constexpr int kEach = 200;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(spawn([&] {
      StoreOptions options;
      options.path = sample.path();
      auto store = open_store(options);
      for (int i = 0; store && i < kEach; ++i) {
        if (!(*store)->record(sample_record(sample.run, 10, i % 4))) return 2;
      }
      return store ? 0 : 1;
    }));
  }
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  const auto store = must_open(sample.path());
  const auto records = store->candidates(sample_job().problem, {});
  REQUIRE(records->size() == 4);
  for (const Record& record : *records) CHECK(store->history(record.id)->size() == kEach / 2);
}

TEST_CASE("processes that tune one problem share the work and do none twice") {
  Sample sample;
  sample.store.reset();
  constexpr int kWork = 300;
  constexpr int kProcesses = 3;
  std::vector<CandidateKey> keys;
  for (int i = 0; i < kWork; ++i) keys.push_back(sample_key(i));
  Pipe measured;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(spawn([&, process] {
      StoreOptions options;
      options.path = sample.path();
      auto store = open_store(options);
      if (!store) return 1;
      ClaimRequest request;
      request.owner.id = "process " + std::to_string(process);
      request.limit = 4;
      for (;;) {
        const auto mine = (*store)->claim(sample_job(), keys, request);
        if (!mine) return 2;
        const auto granted = mine->granted();
        if (granted.empty()) return 0;
        for (const size_t i : granted) {
          const int number = static_cast<int>(i);
          if (!(*store)->record(sample_record(sample.run, 10, number))) return 3;
          if (!measured.send(number)) return 4;
        }
      }
    }));
  }
  measured.close_writer();
  std::vector<int> times(kWork, 0);
  for (int i = 0; measured.receive(i);) ++times[static_cast<size_t>(i)];
  for (const pid_t child : children) CHECK(wait_for(child) == 0);
  CHECK(times == std::vector<int>(kWork, 1));
  CHECK(must_open(sample.path())->done(sample_job())->size() == kWork);
}

TEST_CASE("processes that create one file at the same time all succeed") {
  const SampleSet set("a set", 1);
  for (int round = 0; round < 5; ++round) {
    const TempDir dir;
    StoreOptions options;
    options.path = dir / "tuned.db";
    options.shipped = set.results();
    std::vector<pid_t> children;
    for (int process = 0; process < 6; ++process) {
      children.push_back(spawn([&] {
        auto store = open_store(options);
        if (!store) std::fprintf(stderr, "%s\n", store.error().message.c_str());
        if (!store) return 1;
        return (*store)->add_device(sample_device()) && (*store)->begin_run({}) ? 0 : 2;
      }));
    }
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    const auto store = must_open(options.path);
    CHECK(store->devices()->size() == 2);  // that of the set, too
    CHECK(stored_configs(*store).size() == 1);
  }
}

}  // namespace
}  // namespace gemmtune::store
