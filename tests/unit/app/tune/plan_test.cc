#include "app/tune/plan.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../test_folder.h"
#include "app/tune/problems_in_turns.h"

namespace gemmtune::app {
namespace {

// A database with what one device measured of one problem, as asked for.
struct Answered {
  TestFolder folder;
  std::unique_ptr<store::RecordStore> store;
  Device device;
  bool skip_second = false;

  explicit Answered(const Problem& problem, bool final_round) {
    store::StoreOptions options;
    options.path = folder.file("tuned.db");
    store = *store::open_store(options);
    device.uuid = "GPU-here";
    device.name = "Fictional GPU";
    device.arch = {8, 0, false};
    REQUIRE(store->add_device(device));
    store::Record record;
    record.job = {problem, device.arch, device.uuid, false};
    record.key = {"naive", "tile_m=16 tile_n=16", "hash", "13.0"};
    record.provenance = store::Provenance::measured;
    record.outcome = store::Outcome::ok;
    record.run_id = *store->begin_run({"0.1.0", "13.0", 13000, "test"});
    store::Measurement measurement;
    measurement.median_us = measurement.ci_low_us = measurement.ci_high_us = 10;
    measurement.min_us = 10;
    measurement.sample_count = 1;
    measurement.samples_us = {10};
    measurement.final_round = final_round;
    record.measurement = measurement;
    REQUIRE(store->record(record));
  }

  // The order of two problems, the first of which is the one that was measured.
  std::vector<size_t> order(const Problem& first, const std::string& on, bool warm = false) {
    Target target;
    target.arch = device.arch;
    target.device = device;
    target.device->uuid = on;
    std::vector<PlannedProblem> planned(2);
    planned[0].wanted.problem = first;
    planned[1].wanted.problem = make_problem({8, 8, 8});
    if (skip_second) planned[1].skipped = "a test's";
    std::vector<size_t> order = {0, 1};
    put_unanswered_first(*store, target, warm, planned, order);
    return order;
  }
};

TEST_CASE("problems that have an answer on the device come last") {
  using Order = std::vector<size_t>;
  const Problem problem = make_problem({64, 64, 64});
  Answered answered(problem, true);
  CHECK(answered.order(problem, "GPU-here") == Order{1, 0});
  CHECK(answered.order(problem, "GPU-there") == Order{0, 1});
  CHECK(answered.order(problem, "GPU-here", true) == Order{0, 1});
  CHECK(answered.order(make_problem({64, 64, 72}), "GPU-here") == Order{0, 1});
  CHECK(Answered(problem, false).order(problem, "GPU-here") == Order{0, 1});  // search only
  answered.skip_second = true;  // which then has none, and will have none
  CHECK(answered.order(problem, "GPU-here") == Order{0, 1});
}

// What a list needs for two of its problems to be tuned in turns on one GPU.
struct List {
  TuneOptions options;
  SearchOptions search;
  Target target;
  std::vector<PlannedProblem> problems = std::vector<PlannedProblem>(6);

  List() {
    options.worker_program = "gemm-tune";
    search.jobs = 16;
    target.device.emplace();
    target.device->memory_bytes = int64_t{80} << 30;
    for (PlannedProblem& planned : problems)
      planned.wanted.problem = make_problem({4096, 4096, 4096});
  }

  size_t in_turns() const { return problems_in_turns(options, search, target, problems); }
};

TEST_CASE("a list is tuned by two problems in turns where that gains something and can be done") {
  CHECK(List().in_turns() == 2);
  const auto with = [](const std::function<void(List&)>& change) {
    List list;
    change(list);
    return list.in_turns();
  };
  CHECK(with([](List& list) { list.problems.resize(3); }) == 1);
  CHECK(with([](List& list) { list.problems[0].skipped = list.problems[1].skipped = "no"; }) == 2);
  CHECK(with([](List& list) {
          for (size_t i = 0; i < 3; ++i) list.problems[i].skipped = "nothing computes it";
        }) == 1);
  CHECK(with([](List& list) { list.search.jobs = 8; }) == 1);
  CHECK(with([](List& list) { list.search.seconds = 10; }) == 1);
  CHECK(with([](List& list) { list.options.worker_program.clear(); }) == 1);
  CHECK(with([](List& list) { list.target.device.reset(); }) == 1);
  CHECK(with([](List& list) { list.target.device->one_process = true; }) == 1);
  CHECK(with([](List& list) {
          list.problems[5].wanted.problem = make_problem({65536, 65536, 65536});
        }) == 1);
}

TEST_CASE("all GPUs take two problems each where one would; those that are listed take one") {
  List list;
  list.target.devices.assign(2, *list.target.device);
  list.options.target.devices = "all";
  list.search.jobs = 24;
  list.problems.resize(8, list.problems[0]);
  CHECK(list.in_turns() == 2);
  List listed = list;
  listed.options.target.devices = "0,1";
  CHECK(listed.in_turns() == 1);
  List few_threads = list;
  few_threads.search.jobs = 23;
  CHECK(few_threads.in_turns() == 1);
  List few_problems = list;
  few_problems.problems.resize(7);
  CHECK(few_problems.in_turns() == 1);
  List exclusive = list;
  exclusive.target.devices[1].one_process = true;
  CHECK(exclusive.in_turns() == 1);
}

}  // namespace
}  // namespace gemmtune::app
