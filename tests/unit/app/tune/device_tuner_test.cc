// Tuning on several devices, by processes that pretend to have one each.
#include "app/tune/devices/device_tuner.h"

#include <doctest/doctest.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "../../contains.h"
#include "../../test_folder.h"
#include "fake_worker.h"

namespace gemmtune::app {
namespace {

using Results = std::vector<std::optional<TunedProblem>>;

Device make_device(int ordinal) {
  Device device;
  device.ordinal = ordinal;
  device.uuid = fake_uuid(ordinal);
  device.name = "NVIDIA H200";
  device.arch = {9, 0, false};
  device.sm_count = 132;
  return device;
}

struct Bench {
  TestFolder folder;
  Context context;
  TuneOptions options;
  TunePlan plan;
  std::unique_ptr<store::RecordStore> store;
  std::atomic<bool> stop = false;
  TuneEvents events;
  std::vector<TunePlace> places;   // of problems as they began
  std::vector<TunedProblem> told;  // results, in the order of the events

  Bench(const std::vector<int64_t>& ms, const std::vector<int>& devices) {
    context.places.db = folder.file("tuned.db");
    context.log = std::make_shared<spdlog::logger>("silent");
    options.worker_program = GEMMTUNE_FAKE_WORKER;
    options.worker_arguments = {"fake"};
    plan.target.arch = {9, 0, false};
    for (const int device : devices) plan.target.devices.push_back(make_device(device));
    plan.target.device = plan.target.devices.front();
    plan.search.jobs = 5;
    for (const int64_t m : ms) {
      PlannedProblem planned;
      planned.wanted.problem = make_problem({m, 8, 8});
      planned.wanted.text = key(planned.wanted.problem);
      plan.order.push_back(plan.problems.size());
      plan.problems.push_back(planned);
    }
    store::StoreOptions store_options;
    store_options.path = context.places.db;
    store = *store::open_store(store_options);
    events.on_problem = [this](const WantedProblem&, const TunePlace& place) {
      places.push_back(place);
      return [](const tuner::Progress&) {};
    };
    events.on_result = [this](const TunedProblem& tuned) { told.push_back(tuned); };
  }

  Expected<Results> try_run() {
    return tune_on_devices({context, options, plan, *store, stop, events});
  }
  Results run() {
    auto results = try_run();
    if (!results) FAIL(results.error().message);
    return *std::move(results);
  }
  // "DEVICE M" of each problem that was begun.
  std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::ifstream file(folder.file("tuned.db.log"));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  int64_t times(const std::string& line) const {
    const auto lines = log();
    return std::count(lines.begin(), lines.end(), line);
  }
};

bool is_tuned(const std::optional<TunedProblem>& tuned) {
  return tuned && tuned->report;
}

TEST_CASE("each problem is tuned once, on a device, and the store has its results") {
  Bench bench({101, 102, 103, 104, 105, 106, 107}, {0, 1, 2});
  const Results results = bench.run();
  REQUIRE(results.size() == 7);
  for (size_t i = 0; i < results.size(); ++i) {
    CAPTURE(i);
    REQUIRE(is_tuned(results[i]));
    const TunedProblem& tuned = *results[i];
    REQUIRE(tuned.device);
    CHECK(bench.times(std::to_string(tuned.device->ordinal) + " " + std::to_string(101 + i)) == 1);
    REQUIRE(tuned.report->vendor.best);
    CHECK(tuned.report->vendor.best->job.device_uuid == tuned.device->uuid);
    CHECK(tuned.report->vendor.best->measurement->median_us == 10 + tuned.device->ordinal);
    CHECK(tuned.report->job.device_uuid == tuned.device->uuid);
    CHECK(tuned.report->evaluated == 1);  // of five jobs, one each
    CHECK(tuned.trace.size() == 1);
  }
  CHECK(bench.log().size() == 7);
  CHECK(bench.told.size() == 7);
  REQUIRE(bench.places.size() == 7);
  CHECK(bench.places.back().number == 7);
  CHECK(bench.places.back().device);
}

TEST_CASE("a device that is free takes the next problem while another is busy") {
  Bench bench({kSlow, 101, 102, 103, 104}, {0, 1});
  const Results results = bench.run();
  REQUIRE(is_tuned(results[0]));
  const int slow = results[0]->device->ordinal;
  for (size_t i = 1; i < results.size(); ++i) {
    REQUIRE(is_tuned(results[i]));
    CHECK(results[i]->device->ordinal != slow);
  }
}

TEST_CASE("a device that is named twice tunes two problems at once, each with all threads") {
  Bench bench({101, 102, 103}, {0, 0});
  const Results results = bench.run();
  for (const auto& tuned : results) {
    REQUIRE(is_tuned(tuned));
    CHECK(tuned->device->ordinal == 0);
    CHECK(tuned->report->evaluated == 5);  // of five jobs
  }
  CHECK(bench.log().size() == 3);
}

TEST_CASE("a device gets its next problem while it ends one") {
  Bench bench({kEndsLate, 101}, {0});
  const Results results = bench.run();
  CHECK(is_tuned(results[0]));
  CHECK(is_tuned(results[1]));
  CHECK(bench.log() == std::vector<std::string>{"0 37", "0 101"});
  REQUIRE(bench.places.size() == 2);
  CHECK(bench.places[1].number == 2);
}

TEST_CASE("a problem that a process was given ahead, and did not come to, is tuned by the next") {
  Bench bench({kDiesLateOnce, 101, 102}, {0});
  const Results results = bench.run();
  for (const auto& tuned : results) CHECK(is_tuned(tuned));
  CHECK(bench.log() == std::vector<std::string>{"0 41", "0 41", "0 101", "0 102"});
  CHECK(bench.told.size() == 3);
}

TEST_CASE("a problem whose process ends is tuned by another one, on the same device") {
  for (const int64_t m : {kDiesOnce, kLosesOnce}) {
    Bench bench({m, 101, 102}, {0, 1});
    const Results results = bench.run();
    for (const auto& tuned : results) CHECK(is_tuned(tuned));
    const std::string where = std::to_string(results[0]->device->ordinal);
    CHECK(bench.times(where + " " + std::to_string(m)) == 2);
    CHECK(bench.told.size() == 3);
    for (const TunePlace& place : bench.places) CHECK(place.number <= 3);
  }
}

TEST_CASE("a problem that ends two processes, or fails, is skipped; the others are tuned") {
  Bench bench({kDiesTwice, kFails, 101, 102}, {0, 1});
  const Results results = bench.run();
  REQUIRE(results[0]);
  CHECK_FALSE(results[0]->report);
  CHECK(results[0]->skipped == "its process ended: exit code 3");
  REQUIRE(results[1]);
  CHECK(results[1]->skipped == "planted");
  CHECK(is_tuned(results[2]));
  CHECK(is_tuned(results[3]));
  CHECK(bench.times("0 17") + bench.times("1 17") == 2);
  CHECK(bench.times("0 19") + bench.times("1 19") == 1);
}

TEST_CASE("a device on which nothing works is left out, and costs one problem at most") {
  Bench bench({101, 102, 103, 104, 105, 106}, {kBrokenDevice, 1});
  const Results results = bench.run();
  const auto tuned = std::count_if(results.begin(), results.end(), is_tuned);
  CHECK(tuned >= 5);
  Bench absent({101, 102, 103}, {kAbsentDevice, 1});
  const Results others = absent.run();
  for (const auto& other : others) CHECK(is_tuned(other));
}

TEST_CASE("without any device that works, there is an error, or a reason for each problem") {
  Bench absent({101, 102}, {kAbsentDevice, kAbsentDevice});
  const auto refused = absent.try_run();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unsupported);
  Bench broken({101, 102, 103}, {kBrokenDevice, kBrokenDevice});
  const Results results = broken.run();
  for (const auto& tuned : results) {
    REQUIRE(tuned);
    CHECK(contains(tuned->skipped, "its process ended"));
  }
  Bench missing({101}, {0, 1});
  missing.options.worker_program = "/nowhere/program";
  CHECK(contains(missing.try_run().error().message, "cannot start"));
}

TEST_CASE("an interrupt ends the searches that run, and begins no others") {
  Bench bench({kHangs, kHangs, 101, 102}, {0, 1});
  std::thread interrupter([&] {
    for (int i = 0; i < 10'000 && bench.log().size() < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    bench.stop.store(true);
  });
  const Results results = bench.run();
  interrupter.join();
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(is_tuned(results[i]));
    CHECK(results[i]->report->interrupted);
  }
  CHECK_FALSE(results[2]);
  CHECK_FALSE(results[3]);
  CHECK(bench.log().size() == 2);
}

TEST_CASE("what is skipped by the plan is reported, and what a device has begun is its own") {
  Bench bench({101, 102, 103, 104}, {0, 1});
  bench.plan.problems[1].skipped = "nothing computes it";
  REQUIRE(bench.store->add_device(make_device(1)));
  store::Record record;
  record.job = {bench.plan.problems[0].wanted.problem, {9, 0, false}, fake_uuid(1), false};
  record.key = {"naive", "tile_m=8 tile_n=32", "abc", "13.0"};
  record.outcome = store::Outcome::compile_failed;
  record.run_id = *bench.store->begin_run({"0", "13.0", 13000, ""});
  REQUIRE(bench.store->record(record));
  const Results results = bench.run();
  REQUIRE(results[1]);
  CHECK(results[1]->skipped == "nothing computes it");
  CHECK_FALSE(results[1]->device);
  for (const size_t i : {0, 2, 3}) CHECK(is_tuned(results[i]));
}

TEST_CASE("a summary of several devices has each one's share, and all of them in JSON") {
  Bench bench({101, 102}, {0, 1});
  Results results = bench.run();
  TuneSummary summary;
  summary.target = bench.plan.target;
  summary.seconds = 4;
  for (auto& tuned : results) summary.problems.push_back(*std::move(tuned));
  CHECK(busy_share(summary) == doctest::Approx(0.25));  // twice 1 s, of twice 4 s
  const auto json = nlohmann::json::parse(tune_json(summary));
  CHECK(json["devices"].size() == 2);
  CHECK(json["devices"][1]["ordinal"] == 1);
  CHECK(json["devices"][1]["uuid"] == fake_uuid(1));
  CHECK(json["seconds"] == 4);
  CHECK(json["busy_share"] == doctest::Approx(0.25));
  CHECK(json["results"].size() == 2);
  for (const auto& result : json["results"]) {
    CHECK(result["busy_seconds"] == 1);
    CHECK(result["device_uuid"] == result["vendor_best"]["device_uuid"]);
  }
  summary.problems.clear();
  CHECK_FALSE(busy_share(summary));
}

}  // namespace
}  // namespace gemmtune::app
