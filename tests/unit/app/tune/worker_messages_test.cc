#include "app/tune/devices/worker_messages.h"

#include <doctest/doctest.h>

#include "../../contains.h"

namespace gemmtune::app {
namespace {

TEST_CASE("a setup arrives as it was, in one line") {
  WorkerSetup setup;
  setup.parent = 1234567890123;
  setup.device = 3;
  setup.arch = "sm_90";
  setup.places = {"a\nb\xff.db", "cache", true};
  setup.log_level = 2;
  setup.strategies = {"naive"};
  setup.space_files = {"one.json", "\xfe.json"};
  setup.search.method = tuner::SearchMethod::random;
  setup.search.candidates = 7;
  setup.search.seconds = 1.5;
  setup.search.jobs = 4;
  setup.search.seed = uint64_t{1} << 63;
  setup.search.warm = true;
  const std::string line = to_line(setup);
  CHECK(!contains(line, "\n"));
  const auto arrived = parse_setup(line);
  REQUIRE(arrived);
  CHECK(arrived->parent == setup.parent);
  CHECK(arrived->device == 3);
  CHECK(arrived->arch == "sm_90");
  CHECK(arrived->places.db == setup.places.db);
  CHECK(arrived->places.cache_dir == "cache");
  CHECK(arrived->places.no_cache);
  CHECK(arrived->strategies == setup.strategies);
  CHECK(arrived->space_files == setup.space_files);
  CHECK(arrived->search.method == tuner::SearchMethod::random);
  CHECK(arrived->search.candidates == 7);
  CHECK(arrived->search.seconds == 1.5);
  CHECK(arrived->search.jobs == 4);
  CHECK(arrived->search.seed == setup.search.seed);
  CHECK(!arrived->search.fresh);
  CHECK(arrived->search.warm);
}

TEST_CASE("a report names its records") {
  tuner::TuneReport report;
  report.ranking.resize(2);
  report.ranking[0].id = 5;
  report.ranking[1].id = 3;
  report.vendor.best.emplace().id = 9;
  report.evaluated = 12;
  report.failures = {{"wrong_result", 2}, {"spilled", 1}};
  report.seconds = 4.5;
  report.busy_seconds = 1.25;
  report.spent.waiting = 0.5;
  report.without_gain = 64;
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::report;
  message.report = stored_report(report);
  const auto arrived = parse_message(to_line(message));
  REQUIRE(arrived);
  CHECK(arrived->kind == WorkerMessage::Kind::report);
  CHECK(arrived->report.ranking == std::vector<int64_t>{5, 3});
  CHECK_FALSE(arrived->report.vendor_first);
  CHECK(arrived->report.vendor_best == 9);
  CHECK(arrived->report.report.evaluated == 12);
  CHECK(arrived->report.report.failures == report.failures);
  CHECK(arrived->report.report.busy_seconds == 1.25);
  CHECK(arrived->report.report.spent.waiting == 0.5);
  CHECK(arrived->report.report.without_gain == 64);
}

TEST_CASE("progress and failures arrive; other lines are refused") {
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::progress;
  message.progress.done = 4;
  message.progress.best_us = 2.5;
  message.progress.best = "naive tile_m=8";
  auto arrived = parse_message(to_line(message));
  REQUIRE(arrived);
  CHECK(arrived->progress.done == 4);
  CHECK(arrived->progress.best == "naive tile_m=8");
  message.kind = WorkerMessage::Kind::failure;
  message.error = {ErrorKind::io, "disk \xff full"};
  message.device_lost = true;
  arrived = parse_message(to_line(message));
  REQUIRE(arrived);
  CHECK(arrived->error.kind == ErrorKind::io);
  CHECK(contains(arrived->error.message, "full"));
  CHECK(arrived->device_lost);
  const auto order = parse_order(to_line(WorkerOrder{"f32/f32/ieee/ttt/8x8x8", true}));
  REQUIRE(order);
  CHECK(order->problem == "f32/f32/ieee/ttt/8x8x8");
  CHECK(order->again);
  for (const char* line : {"", "no JSON", "{}", "[1]", "{\"kind\": \"ready\"}"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_message(line));
    CHECK_FALSE(parse_setup(line));
    CHECK_FALSE(parse_order(line));
  }
}

}  // namespace
}  // namespace gemmtune::app
