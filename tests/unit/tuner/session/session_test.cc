#include "tuner/session/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "session_fixture.h"
#include "tma_strategy.h"
#include "tuner/session/model_evaluator.h"

namespace gemmtune::tuner {
namespace {

using session_test::Fixture;

TEST_CASE_FIXTURE(Fixture, "a session tries the whole space, records it, and finds the best") {
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(report->geometries == 4);
  CHECK(report->evaluated == 12);
  CHECK(report->busy_seconds == 3);
  const TimeSpent& spent = report->spent;
  CHECK(spent.choosing > 0);
  CHECK(spent.measuring > 0);
  CHECK(spent.vendor + spent.choosing + spent.waiting + spent.measuring + spent.finals <=
        report->seconds);
  REQUIRE_FALSE(report->ranking.empty());
  const auto best = parse_tile(report->ranking.front().key.config);
  REQUIRE(best);
  CHECK(best->tile_m == 64);
  CHECK(best->tile_n == 64);
  CHECK(best->order == 0);
  CHECK(report->vendor.best->measurement->median_us == 100);
  CHECK(store->best(request.problem, filter())->value().key.config ==
        report->ranking.front().key.config);
  CHECK(store->candidates(request.problem, filter())->size() == 13);  // and the vendor
}

TEST_CASE_FIXTURE(Fixture, "an exhaustive session tries all, a random one as many as asked for") {
  request.method = SearchMethod::exhaustive;
  CHECK(count_points(request, services.limits, 1000) == 12);
  CHECK(count_points(request, services.limits, 5) == 5);
  const auto all = tune(request, services);
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  CHECK(all->evaluated == 12);
  CHECK(parse_tile(all->ranking.front().key.config)->order == 0);
  request.method = SearchMethod::random;
  request.max_candidates = 5;
  request.fresh = true;
  evaluator.asked.clear();
  const auto some = tune(request, services);
  REQUIRE_MESSAGE(some.has_value(), (some ? "" : some.error().message));
  CHECK(some->evaluated == 5);
  request.max_candidates = 100;  // where random finds no more, the rest is tried in order
  CHECK(tune(request, services)->evaluated == 12);
}

TEST_CASE_FIXTURE(Fixture,
                  "kernels of a general and of a specific arch share a session and its final") {
  services.limits = representative_device({9, 0, false});
  services.device->arch = {9, 0, false};
  request.spaces.push_back(
      {&codegen::tma_copy(), {{32, 64}, {64}}, {&TileConfig::tile_m, &TileConfig::tile_n}});
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> archs;  // by strategy
  compiler->broken = [&](const jit::CompileRequest& compiled) {
    const std::lock_guard lock(mutex);
    const bool tma = compiled.source.name.starts_with("tma_copy");
    archs[tma ? "tma_copy" : "others"].insert(to_string(compiled.arch));
    return false;
  };
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(report->evaluated == 14);
  CHECK(archs["tma_copy"] == std::set<std::string>{"sm_90a"});
  CHECK(archs["others"] == std::set<std::string>{"sm_90"});
  std::set<std::string> ranked;
  for (const store::Record& record : report->ranking) {
    ranked.insert(record.key.strategy);
    CHECK(to_string(record.job.arch) == "sm_90");
  }
  CHECK(ranked.size() == 2);
  CHECK(store->candidates(request.problem, filter())->size() == 15);  // and the vendor
}

TEST_CASE_FIXTURE(Fixture, "the final round's winner is the best, though all ran faster before") {
  evaluator.final_factor = 1.12;  // 50 us become 56, while the third of that geometry took 52
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  REQUIRE_FALSE(report->ranking.empty());
  const auto best = store->best(request.problem, filter());
  REQUIRE(best->has_value());
  CHECK((*best)->key == report->ranking.front().key);
  CHECK((*best)->measurement->median_us == doctest::Approx(56));
  CHECK((*best)->measurement->final_round);
}

TEST_CASE_FIXTURE(Fixture, "candidates are chosen when compilers have little left to do") {
  request.threads = 4;
  std::atomic<size_t> compiled = 0;
  compiler->broken = [&](const jit::CompileRequest&) {
    ++compiled;
    return false;
  };
  evaluator.on_evaluate = [&](size_t evaluated) { CHECK(compiled <= evaluated + 8); };
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  CHECK(report->evaluated == 12);
  CHECK(compiled >= 12);  // and finalists
}

TEST_CASE_FIXTURE(Fixture, "a search may end when little is expected of more, and says so") {
  request.spaces = {session_test::space_of(R"({"strategy": "double_buffer", "values": {
      "tile_m": [32, 64, 96, 128], "tile_n": [32, 64, 96, 128], "tile_k": [8, 16, 32],
      "warp_m": [32], "warp_n": [32], "thread_m": [8], "thread_n": [4], "lanes": [0],
      "order": [0, 1, 2], "copy": [0], "fragments": [1], "min_blocks": [0], "raster": [1, 4, 8]}})")};
  request.max_candidates = 190;
  request.until_settled = true;
  const auto early = tune(request, services);
  REQUIRE_MESSAGE(early.has_value(), (early ? "" : early.error().message));
  CHECK(early->evaluated >= 64);
  CHECK(early->evaluated < 150);
  REQUIRE(early->expected_gain);
  CHECK(*early->without_gain >= 48);
  CHECK(parse_tile(early->ranking.front().key.config)->tile_m == 64);
  CHECK(parse_tile(early->ranking.front().key.config)->tile_n == 64);
  request.until_settled = false;
  request.fresh = true;
  const auto all = tune(request, services);
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  CHECK(all->evaluated == 190);
  CHECK_FALSE(all->expected_gain);
}

TEST_CASE_FIXTURE(Fixture, "a calibrated search that may end soon makes its proposals soon") {
  services.limits = representative_device({9, 0, false});
  services.device->arch = {9, 0, false};
  request.problem = make_problem({4096, 4096, 4096});
  request.spaces = {*codegen::default_search_space(**codegen::find_strategy("double_buffer"))};
  request.max_candidates = 360;
  request.until_settled = true;
  evaluator.all_are_alike = true;
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  // It ends when 48 candidates gained nothing since the first proposals, which come after 32 seeds
  // less the few that cannot win. If seeds were a share of all 360, they would come after 72.
  CHECK(report->evaluated >= 24 + 48);
  CHECK(report->evaluated < 72 + 48);
}

TEST_CASE_FIXTURE(Fixture, "what is recorded is not tried again, unless asked for") {
  REQUIRE(tune(request, services).has_value());
  evaluator.asked.clear();
  open();
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  CHECK(evaluator.asked.empty());
  CHECK(second->resumed == 12);
  CHECK_FALSE(second->ranking.empty());
  request.fresh = true;
  const auto third = tune(request, services);
  REQUIRE(third.has_value());
  CHECK(evaluator.asked.size() == 12);
  CHECK(third->cached == 12);
}

TEST_CASE_FIXTURE(Fixture, "what won on a similar problem is tried first") {
  const auto first = tune(request, services);
  REQUIRE(first.has_value());
  evaluator.asked.clear();
  request.problem =
      make_problem({request.problem.shape.m * 2, request.problem.shape.n, request.problem.shape.k});
  request.max_candidates = 2;  // one seed, one step from it
  request.threads = 1;         // so that they are evaluated in that order
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  REQUIRE_FALSE(evaluator.asked.empty());
  CHECK(evaluator.asked.front().config == first->ranking.front().key.config);
}

TEST_CASE_FIXTURE(Fixture, "a kernel that spilled for a similar problem is not tried again") {
  compiler->spilling = [](const jit::CompileRequest& request) {
    return request.source.name.find("_v444_32x") != std::string::npos;
  };
  const auto first = tune(request, services);
  REQUIRE_MESSAGE(first.has_value(), (first ? "" : first.error().message));
  CHECK(evaluator.asked.size() == 6);
  request.problem = make_problem({512, 256, 256});
  const auto second = tune(request, services);
  REQUIRE_MESSAGE(second.has_value(), (second ? "" : second.error().message));
  CHECK(second->evaluated == 6);
  CHECK(second->compiled == 0);
  CHECK(second->cached == 6);
  request.problem = make_problem({512, 256, 256}, DataType::f32, *parse_layout("tnt"));
  CHECK(tune(request, services)->evaluated == 12);
}

TEST_CASE_FIXTURE(Fixture, "what another driver's version was measured with is measured again") {
  request.threads = 1;  // so that candidates are evaluated in the order of the search
  services.run.driver_version = 12040;
  const auto first = tune(request, services);
  REQUIRE(first);
  const auto best = *store->best(request.problem, {});
  REQUIRE(best);
  evaluator.asked.clear();
  services.run.driver_version = 13000;
  const auto second = tune(request, services);
  REQUIRE_MESSAGE(second.has_value(), (second ? "" : second.error().message));
  CHECK(second->evaluated == first->evaluated);
  REQUIRE(!evaluator.asked.empty());
  CHECK(evaluator.asked.front().config == best->key.config);
}

// As after an update of the program that changed the kernels.
TEST_CASE_FIXTURE(Fixture,
                  "what another source was measured with is stale, and measured again first") {
  REQUIRE(tune(request, services));
  std::vector<store::Entry> entries;
  store::EntryQuery all;
  all.filter.include_vendor = true;
  REQUIRE(store->entries(all, [&](store::Entry entry) {
    if (entry.record.outcome != store::Outcome::vendor)
      entry.record.key.source_hash = "0123456789abcdef";
    entries.push_back(std::move(entry));
  }));
  store::StoreOptions options;
  options.path = folder.path() / "older.db";
  const auto older = *store::open_store(options);
  REQUIRE(older->merge(entries));
  const auto best = *older->best(request.problem, {});
  REQUIRE(best);
  evaluator.asked.clear();
  services.store = older.get();
  request.max_candidates = 2;
  request.threads = 1;  // so that candidates are evaluated in the order of the search
  const auto report = tune(request, services);
  REQUIRE(report);
  CHECK(report->resumed == 0);
  REQUIRE(!evaluator.asked.empty());
  CHECK(evaluator.asked.front().config == best->key.config);
  CHECK_FALSE((*older->best(request.problem, {}))->stale);
  int stale = 0;
  const auto records = *older->candidates(request.problem, {});
  for (const store::Record& record : records) {
    if (record.key.source_hash == "0123456789abcdef") CHECK(record.stale);
    stale += record.stale ? 1 : 0;
  }
  CHECK(stale > 5);
}

TEST_CASE_FIXTURE(Fixture, "an interrupted session keeps what it has, and the next one finishes") {
  std::atomic<bool> stop{false};
  services.stop = &stop;
  evaluator.stop = &stop;
  evaluator.stop_after = 4;
  const auto first = tune(request, services);
  REQUIRE(first.has_value());
  CHECK(first->interrupted);
  CHECK(first->evaluated == 4);
  CHECK_FALSE(first->ranking.empty());
  stop = false;
  evaluator.stop = nullptr;
  evaluator.asked.clear();
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  CHECK(second->resumed == 4);
  CHECK(evaluator.asked.size() == 8);
}

TEST_CASE_FIXTURE(Fixture, "a wrong kernel is recorded as such and never wins") {
  evaluator.wrong_order = 0;
  const auto report = tune(request, services);
  REQUIRE(report.has_value());
  for (const store::Record& record : report->ranking)
    CHECK(parse_tile(record.key.config)->order != 0);
  int wrong = 0;
  const auto records = store->candidates(request.problem, filter());
  REQUIRE(records.has_value());
  for (const store::Record& record : *records) {
    wrong += record.outcome == store::Outcome::wrong_result ? 1 : 0;
  }
  CHECK(wrong == 4);
}

TEST_CASE_FIXTURE(Fixture,
                  "a crash that ends the process is recorded, and the next run goes on behind it") {
  evaluator.crash_at = 3;
  const auto first = tune(request, services);
  REQUIRE_FALSE(first);
  CHECK(first.error().message == "the device is gone; run again");
  evaluator.crash_at = 0;
  evaluator.asked.clear();
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  CHECK(second->resumed == 3);
  CHECK(evaluator.asked.size() == 9);
}

TEST_CASE_FIXTURE(Fixture, "what was eliminated early is taken over with its time") {
  evaluator.all_are_slow = true;
  evaluator.crash_at = 12;  // before the finals make one of them `ok`
  REQUIRE_FALSE(tune(request, services));
  evaluator.asked.clear();
  const auto second = tune(request, services);
  REQUIRE_MESSAGE(second.has_value(), (second ? "" : second.error().message));
  CHECK(evaluator.asked.empty());
  REQUIRE_FALSE(second->ranking.empty());
  CHECK(second->ranking.front().measurement->median_us < 60);
}

TEST_CASE_FIXTURE(Fixture, "without a device the result is a prediction and says so") {
  services.device.reset();
  int verified = 0;
  ModelEvaluator model(
      request.problem, services.limits, [&](const codegen::KernelSpec&) -> Expected<Verdict> {
        return ++verified == 1 ? Verdict{VerdictKind::wrong_result, "planted", 0} : Verdict{};
      });
  services.evaluator = &model;
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  REQUIRE_FALSE(report->ranking.empty());
  CHECK(report->ranking.front().provenance == store::Provenance::predicted);
  CHECK(report->ranking.front().job.device_uuid == "model-" + services.limits.id);
  CHECK_FALSE(report->ranking.front().measurement);
  CHECK(verified == 2);  // the first winner was wrong, the next one took its place
  CHECK_FALSE(report->vendor.best);
}

// Of many candidates that are predicted, in an order that compilers do not change.
TEST_CASE_FIXTURE(Fixture,
                  "without a device a search ends once nothing is left that promises more") {
  services.device.reset();
  request.problem = make_problem({4096, 4096, 4096});
  // Of a strategy that is expected to need far fewer registers than there are.
  request.spaces = {*codegen::default_search_space(**codegen::find_strategy("double_buffer"))};
  request.until_settled = true;
  request.max_candidates = 64;
  ModelEvaluator model(request.problem, services.limits, {});
  services.evaluator = &model;
  request.fresh = true;
  const auto with_registers = [&](int registers) {
    compiler->registers = registers;
    const auto report = tune(request, services);
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
    REQUIRE_FALSE(report->ranking.empty());
    return *report;
  };
  // The compiler needs hardly any register: what is ranked first keeps its promise.
  const auto kept = with_registers(16);
  CHECK(kept.evaluated == 8);
  // It needs so many that none does, whatever is tried.
  const auto broken = with_registers(254);
  CHECK(broken.evaluated > 8);
  CHECK(broken.evaluated % 8 == 0);
  // And with a number of candidates asked for, that many are tried.
  request.until_settled = false;
  CHECK(with_registers(16).evaluated == 64);
}

TEST_CASE_FIXTURE(Fixture, "the final round times the code that the search timed") {
  compiler->caching = false;
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
  REQUIRE_FALSE(evaluator.final_bytes.empty());
  for (const auto& [key, bytes] : evaluator.final_bytes)
    CHECK(bytes == evaluator.searched_bytes.at(key));
  CHECK(compiler->most_often() == 1);
}

TEST_CASE_FIXTURE(Fixture,
                  "a finalist of an earlier session that does not compile is recorded so") {
  const auto first = tune(request, services);
  REQUIRE(first.has_value());
  const store::CandidateKey broken = first->ranking.front().key;
  const std::string text = codegen::emit(*kernel_of(first->ranking.front())).text;
  compiler->broken = [&](const jit::CompileRequest& request) {
    return request.source.text == text;
  };
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  CHECK(second->failures == std::vector<std::pair<std::string, int>>{{"compile_failed", 1}});
  CHECK(second->ranking.front().key != broken);
  const auto records = store->candidates(request.problem, filter());
  for (const store::Record& record : *records) {
    if (record.key != broken) continue;
    CHECK(record.outcome == store::Outcome::compile_failed);
    CHECK(record.reason == "planted");
  }
}

TEST_CASE_FIXTURE(Fixture, "time counts from the start, and a search without any tries something") {
  request.max_seconds = 1e-9;
  request.max_candidates = 12;
  const auto first = tune(request, services);
  REQUIRE_MESSAGE(first.has_value(), (first ? "" : first.error().message));
  CHECK(first->evaluated >= 1);
  CHECK(first->evaluated <= 4);
  CHECK_FALSE(first->ranking.empty());
  const auto second = tune(request, services);
  REQUIRE(second.has_value());
  CHECK(second->evaluated >= 1);
  CHECK(second->resumed == first->evaluated);
}

// Others may have the processor between the two readings of the clock, but hardly five times.
TEST_CASE_FIXTURE(Fixture, "seconds hold the ranking of the spaces") {
  const auto& strategy = **codegen::find_strategy("double_buffer");
  request.spaces = {*codegen::default_search_space(strategy)};  // ranking it takes a while
  request.max_candidates = 1;
  request.threads = 1;
  double largest_share = 0;
  for (int i = 0; i < 5 && largest_share <= 0.7; ++i) {
    request.problem.shape.m += 8;  // nothing is known of it
    const auto start = std::chrono::steady_clock::now();
    const auto report = tune(request, services);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    REQUIRE_MESSAGE(report.has_value(), (report ? "" : report.error().message));
    CHECK(report->seconds <= taken.count());
    largest_share = std::max(largest_share, report->seconds / taken.count());
  }
  CHECK(largest_share > 0.7);
}

TEST_CASE_FIXTURE(Fixture, "progress does not count past its total") {
  REQUIRE(tune(request, services).has_value());
  request.max_candidates = 5;  // of the 12 that are recorded
  int calls = 0;
  services.on_progress = [&](const Progress& progress) {
    ++calls;
    CHECK(progress.done == 12);
    CHECK(progress.total == 12);
  };
  REQUIRE(tune(request, services).has_value());
  CHECK(calls > 0);
}

TEST_CASE_FIXTURE(Fixture, "a space without a legal tile is a usage error") {
  request.spaces.front().values[3] = {16};  // warp_m 16 x warp_n 32 is not 32 thread tiles
  const auto report = tune(request, services);
  REQUIRE_FALSE(report);
  CHECK(report.error().kind == ErrorKind::usage);
}

}  // namespace
}  // namespace gemmtune::tuner
