#include "app/bench/bench.h"
#include "app/bench/bench_choice.h"
#include "app/bench/bench_summary.h"
#include "app/common/problems.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "../../contains.h"
#include "app/query/explain.h"
#include "bench_fixture.h"
#include "dispatch/request.h"
#include "dispatch/snapshot_source.h"
#include "shipped/shipped_results.h"

namespace gemmtune::app {
namespace {

using namespace bench_test;  // NOLINT(google-build-using-namespace)
using dispatch::Origin;

const Problem kProduct = make_problem({64, 64, 64});

BenchRow bench_one(Card& card, const dispatch::Decision& decision) {
  auto row = bench_problem(wanted_of(kProduct), decision, services_of(card));
  REQUIRE(row);
  return *row;
}

std::vector<WantedProblem> all_suites() {
  ProblemOptions options;
  for (const auto& entry :
       std::filesystem::directory_iterator(GEMMTUNE_SOURCE_DIR "/configs/suites")) {
    options.suites.push_back(entry.path().string());
  }
  auto wanted = parse_problems(options);
  REQUIRE(wanted);
  return *wanted;
}

// A card of the model that results come with, which has never been tuned.
Device shipped_model(store::RecordStore& store) {
  const auto devices = store.devices();
  REQUIRE(devices);
  REQUIRE(!devices->empty());
  Device device = devices->front().device;
  device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  return device;
}

}  // namespace

TEST_CASE("what the library runs, what is own, and cuBLASLt are of one comparison") {
  Card card;
  const BenchRow row = bench_one(
      card,
      {{algorithm_choice(kAlgorithm), {}, kernel_choice("naive", kProduct, Origin::same_model)},
       {}});
  CHECK(row.dispatched->time->median_us == 18);
  CHECK(row.dispatched->provenance == BenchProvenance::same_model);
  CHECK(row.own->time->median_us == 40);
  CHECK(row.vendor_first->median_us == 20);
  CHECK(row.vendor_best->median_us == 16);
  CHECK(row.note.empty());
  CHECK(row.compared());
  CHECK(card.finals == 1);
}

TEST_CASE("cuBLASLt's default has the default's time") {
  Card card;
  const BenchRow row = bench_one(card, {{{}}, {}});
  CHECK(row.dispatched->time->median_us == row.vendor_first->median_us);
  CHECK(row.dispatched->label == "cuBLASLt default");
  CHECK_FALSE(row.own);
  CHECK(row.compared());
}

TEST_CASE("a wrong kernel has no time but a note, cuBLASLt still has one") {
  Card card;
  card.wrong = {"smem_tile"};
  const BenchRow row =
      bench_one(card, {{kernel_choice("smem_tile", kProduct, Origin::this_device), {}}, {}});
  CHECK_FALSE(row.dispatched->time);
  CHECK_FALSE(row.compared());
  CHECK(contains(row.note, "smem_tile: wrong_result: planted"));
  CHECK(row.vendor_best->median_us == 16);
}

TEST_CASE("without cuBLASLt there is a time and nothing to compare with") {
  Card card;
  card.vendor.clear();
  BenchRow row = bench_one(card, {{{}, kernel_choice("smem_tile", kProduct, {})}, {}});
  CHECK(row.dispatched->time->median_us == 10);
  CHECK_FALSE(row.compared());
  CHECK(contains(row.note, "cuBLASLt has nothing for it"));
  row = bench_one(card, {});
  CHECK_FALSE(row.dispatched);
  CHECK(contains(row.note, "nothing that is known computes it here"));
}

TEST_CASE("an epilogue to come, and operands that do not fit, are notes") {
  Card card;
  WantedProblem wanted = wanted_of(kProduct);
  wanted.unsupported = "the epilogue 'bias' does not exist yet";
  auto row = bench_problem(wanted, {}, services_of(card));
  REQUIRE(row);
  CHECK(row->note == wanted.unsupported);
  BenchServices services = services_of(card);
  services.make_evaluator = [](const Problem&) -> Expected<std::unique_ptr<tuner::Evaluator>> {
    return usage_error("needs too much");
  };
  row = bench_problem(wanted_of(kProduct), {}, services);
  REQUIRE(row);
  CHECK(row->note == "needs too much");
  services.make_evaluator = [](const Problem&) -> Expected<std::unique_ptr<tuner::Evaluator>> {
    return make_error(ErrorKind::failed, "the device is gone");
  };
  CHECK_FALSE(bench_problem(wanted_of(kProduct), {}, services));
  CHECK(card.finals == 0);
}

TEST_CASE("with results of its model only, every problem of the suites is compared") {
  auto store = store::open_memory_store();
  REQUIRE(store);
  const auto shipped = shipped::entries();
  REQUIRE(shipped);
  REQUIRE((*store)->merge(*shipped));
  const Device device = shipped_model(**store);
  const auto snapshot = dispatch::read_store(**store, device);
  REQUIRE(snapshot);
  Card card;
  for (const codegen::Strategy* strategy : codegen::strategies())
    card.kernels[std::string(strategy->name())] = 10;
  int supported = 0;
  int tuned = 0;
  for (const WantedProblem& wanted : all_suites()) {
    if (!wanted.unsupported.empty()) continue;
    CAPTURE(wanted.text);
    ++supported;
    const auto decision = dispatch::decide(
        *snapshot, {dispatch::comparable(wanted.problem), false, false}, library_target(device));
    CHECK_FALSE(tuned_here(decision, dispatch::comparable(wanted.problem)));
    const auto row = bench_problem(wanted, decision, services_of(card));
    REQUIRE(row);
    CHECK(row->compared());
    if (row->own) ++tuned;
  }
  CHECK(supported >= 85);
  CHECK(tuned >= 60);
}

TEST_CASE("an interruption or a failure keeps the rows until then") {
  std::atomic<bool> stop = false;
  const std::vector<WantedProblem> wanted(3, wanted_of(kProduct));
  int told = 0;
  BenchEvents events;
  events.on_row = [&](const BenchRow&) { ++told; };
  const auto rows_until = [&](size_t count, const MeasureRow& end) {
    BenchReport report;
    size_t done = 0;
    const MeasureRow measure = [&](const WantedProblem& problem) {
      if (done++ == count) return end(problem);
      BenchRow row;
      row.wanted = problem;
      return Expected<std::optional<BenchRow>>(row);
    };
    measure_rows(wanted, {{}, measure}, stop, events, report);
    return report;
  };
  const auto never = [](const WantedProblem&) {
    FAIL("must not be asked");
    return Expected<std::optional<BenchRow>>();
  };
  BenchReport report = rows_until(3, never);
  CHECK(report.rows.size() == 3);
  CHECK_FALSE(report.interrupted);
  CHECK(told == 3);

  report = rows_until(2, [](const auto&) -> Expected<std::optional<BenchRow>> {
    return make_error(ErrorKind::failed, "it crashed");
  });
  CHECK(report.rows.size() == 2);
  CHECK(report.groups.size() == 1);
  CHECK_FALSE(report.interrupted);
  CHECK(report.failure == wanted[2].text + ": it crashed");

  report = rows_until(1, [](const auto&) { return Expected<std::optional<BenchRow>>(); });
  CHECK(report.rows.size() == 1);
  CHECK(report.interrupted);

  stop = true;
  report = rows_until(0, never);
  CHECK(report.rows.empty());
  CHECK(report.interrupted);
}

TEST_CASE("a problem is prepared while the one before it is measured, but for the first") {
  std::vector<WantedProblem> wanted(4, wanted_of(kProduct));
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i].text = std::to_string(i);
  const std::atomic<bool> stop = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> prepared;
  RowSteps steps;
  steps.prepare = [&](const WantedProblem& problem) {
    const std::lock_guard lock(mutex);
    prepared.push_back(problem.text);
    changed.notify_all();
  };
  steps.measure = [&](const WantedProblem& problem) {
    std::unique_lock lock(mutex);
    const auto next = static_cast<size_t>(std::stoi(problem.text)) + 1;
    // The next one is prepared during this: one that waited for its end would never be.
    if (next < 4) changed.wait(lock, [&] { return prepared.size() == next; });
    CHECK((next == 1 || prepared[next - 2] == problem.text));
    BenchRow row;
    row.wanted = problem;
    return Expected<std::optional<BenchRow>>(row);
  };
  BenchReport report;
  measure_rows(wanted, steps, stop, {}, report);
  CHECK(report.rows.size() == 4);
  CHECK(prepared == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("options that make no sense are refused before anything is looked for") {
  const auto refused = [](BenchOptions options) {
    options.problems.shapes = {"64x64x64"};
    const std::atomic<bool> stop = false;
    const auto report = bench({}, options, stop, {});
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == ErrorKind::usage);
    return report.error().message;
  };
  BenchOptions options;
  options.search.candidates = 5;
  CHECK(contains(refused(options), "--tune-missing"));
  options.search = {};
  options.search.seconds = 1;
  CHECK(contains(refused(options), "--tune-missing"));
}

}  // namespace gemmtune::app
