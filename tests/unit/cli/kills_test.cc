// The built binary killed at random moments, over and over: GEMM_TUNE_TEST_KILLS says how often (a
// dozen by default), in equal parts with one, two and four processes on one database.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "workplace.h"

namespace gemmtune::cli_test {
namespace {

using Clock = std::chrono::steady_clock;

// All of it is tried, so there is one winner.
constexpr const char* kSmallSpace = R"({"strategy": "double_buffer", "about": "for tests",
  "values": {"tile_m": [32, 64], "tile_n": [32, 64], "tile_k": [8, 16], "warp_m": [32],
  "warp_n": [32], "thread_m": [8], "thread_n": [4], "lanes": [0], "order": [0, 1, 2], "copy": [0],
  "fragments": [1], "min_blocks": [0], "raster": [1]}})";
constexpr int kAll = 1000;
constexpr int kKillsPerDatabase = 6;

int wanted_kills() {
  const char* text = std::getenv("GEMM_TUNE_TEST_KILLS");
  return text != nullptr ? std::atoi(text) : 12;
}

struct Winner {
  std::string kernel;
  size_t candidates = 0;
  bool operator==(const Winner&) const = default;
};

Winner winner_of(const Workplace& place) {
  const auto store = place.open();
  REQUIRE(store);
  const auto best = store->best(make_problem({256, 256, 256}), {});
  REQUIRE(best);
  REQUIRE(best->has_value());
  return {(*best)->key.strategy + " " + (*best)->key.config, place.records().size()};
}

// What is recorded of every candidate that was finished before is still there.
class Ledger {
 public:
  void check(const Workplace& place) {
    std::map<int64_t, store::CandidateKey> now;
    for (const store::Record& record : place.records()) now[record.id] = record.key;
    for (const auto& [id, key] : known_) {
      REQUIRE(now.contains(id));
      CHECK(now.at(id) == key);
    }
    known_ = std::move(now);
  }

 private:
  std::map<int64_t, store::CandidateKey> known_;
};

struct Counts {
  int kills = 0;
  int in_search = 0;  // of those: while candidates were left
  int databases = 0;
};

// Kills one of `count` processes after the other, starts it again, and lets all end in the end.
class Campaign {
 public:
  Campaign(const Workplace& place, size_t count, Clock::duration duration, uint64_t seed)
      : place_(place), processes_(count), duration_(duration), random_(seed) {
    for (auto& process : processes_) process = start();
  }

  void kill_one(size_t all, Counts& counts) {
    auto& process = processes_[random_() % processes_.size()];
    if (random_() % 2 == 0) {
      std::this_thread::sleep_for(duration_ * (random_() % 1000) / 1000);
    } else {
      wait_for_progress(*process, random_() % (all / 3));
    }
    if (process->running()) {
      process->signal(SIGKILL);
      const Finished finished = process->wait();
      if (finished.code == -SIGKILL) {
        ++counts.kills;
        if (place_.records().size() < all) ++counts.in_search;
      }
    } else {
      expect_success(*process);
    }
    ledger_.check(place_);
    process = start();
  }

  void finish() {
    for (auto& process : processes_) expect_success(*process);
    ledger_.check(place_);
  }

 private:
  // Most of a process's time is not its search, which is what shall be hit.
  void wait_for_progress(Process& process, size_t candidates) {
    const size_t wanted = place_.records().size() + candidates;
    while (process.running() && place_.records().size() < wanted) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 5000));
  }

  std::unique_ptr<Process> start() const {
    return std::make_unique<Process>(place_.folder, place_.tune(kAll), place_.variables);
  }
  static void expect_success(Process& process) {
    const Finished finished = process.wait();
    CAPTURE(finished.err);
    CHECK(finished.code == 0);
  }

  const Workplace& place_;
  std::vector<std::unique_ptr<Process>> processes_;
  Clock::duration duration_;
  std::mt19937_64 random_;
  Ledger ledger_;
};

}  // namespace

TEST_CASE(
    "kill -9 at random moments: nothing is lost, and the winner is that of an undisturbed run") {
  require_compiler();
  const Workplace first(kSmallSpace);
  REQUIRE(run(first.folder, first.tune(kAll), first.variables).code == 0);
  const Winner undisturbed = winner_of(first);
  // With all kernels in the cache.
  std::filesystem::remove(first.db);
  const auto start = Clock::now();
  REQUIRE(run(first.folder, first.tune(kAll), first.variables).code == 0);
  const auto duration = Clock::now() - start;
  REQUIRE(winner_of(first) == undisturbed);

  const int kills_each = (wanted_kills() + 2) / 3;
  for (const size_t count : {1, 2, 4}) {
    Counts counts;
    // At least one must hit a search; every other does.
    while (counts.kills < kills_each || (counts.in_search == 0 && counts.databases < 20)) {
      CAPTURE(count);
      CAPTURE(counts.databases);
      Workplace place(kSmallSpace);
      place.variables["GEMM_TUNE_CACHE_DIR"] = first.folder.file("cache");
      Campaign campaign(place, count, duration,
                        static_cast<uint64_t>(100 * counts.databases) + count);
      const int end = std::clamp(kills_each - counts.kills, 1, kKillsPerDatabase) + counts.kills;
      for (int tries = 0; counts.kills < end && tries < 3 * kKillsPerDatabase; ++tries)
        campaign.kill_one(undisturbed.candidates, counts);
      campaign.finish();
      REQUIRE(run(place.folder, place.tune(kAll), place.variables).code == 0);
      CHECK(winner_of(place) == undisturbed);
      CHECK(place.claims() == 0);
      place.check_store();
      ++counts.databases;
    }
    MESSAGE(count, " processes: ", counts.kills, " kills, ", counts.in_search,
            " of them during the search, ", counts.databases, " databases");
    CHECK(counts.in_search > 0);
  }
}

}  // namespace gemmtune::cli_test
