#include "tuner/session.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "tuner/model_evaluator.h"

namespace gemmtune::tuner {
namespace {

namespace fs = std::filesystem;

// A folder that is gone when the test is.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() /
              fmt::format("gemmtune-session-{}", std::random_device{}())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Times a candidate by a formula and remembers what it was asked.
class FormulaEvaluator final : public Evaluator {
 public:
  Expected<std::vector<VendorResult>> measure_vendor() override {
    VendorResult result;
    result.config = "rank=0 algo=1";
    result.library_version = "1";
    result.measurement = measurement(100);
    return std::vector<VendorResult>{result};
  }
  Expected<Evaluation> evaluate(const Candidate& candidate, const jit::CompiledKernel&) override {
    asked.push_back(candidate.key);
    Evaluation evaluation;
    if (candidate.spec.tile.order == wrong_order) {
      evaluation.outcome = store::Outcome::wrong_result;
      evaluation.reason = "planted";
      return evaluation;
    }
    evaluation.time_us = time_us(candidate.spec.tile);
    evaluation.measurement = measurement(evaluation.time_us);
    if (asked.size() == crash_at) {
      evaluation = {};
      evaluation.outcome = store::Outcome::launch_failed;
      evaluation.fatal = "the device is gone; run again";
    }
    if (stop != nullptr && asked.size() == stop_after) stop->store(true);
    return evaluation;
  }
  Expected<FinalResults> finish(std::span<const Finalist> finalists) override {
    FinalResults results;
    for (const Finalist& finalist : finalists) {
      Evaluation evaluation;
      evaluation.time_us = time_us(finalist.candidate.spec.tile);
      evaluation.measurement = measurement(evaluation.time_us);
      results.finalists.push_back(evaluation);
    }
    results.vendor = *measure_vendor();
    return results;
  }

  std::vector<store::CandidateKey> asked;
  int wrong_order = -1;
  std::atomic<bool>* stop = nullptr;
  size_t stop_after = 0;
  size_t crash_at = 0;

 private:
  static double time_us(const TileConfig& t) {
    return 50 + std::abs(t.tile_m - 64) + std::abs(t.tile_n - 64) + t.order;
  }
  static store::Measurement measurement(double us) {
    store::Measurement m;
    m.median_us = m.ci_low_us = m.ci_high_us = m.min_us = us;
    m.sample_count = 1;
    return m;
  }
};

codegen::SearchSpace small_space() {
  return *codegen::parse_search_space(R"({"strategy": "double_buffer", "values": {
      "tile_m": [32, 64], "tile_n": [32, 64], "tile_k": [8], "warp_m": [32], "warp_n": [32],
      "thread_m": [8], "thread_n": [4], "lanes": [0], "order": [0, 1, 2], "fragments": [1],
      "min_blocks": [0], "raster": [1]}})",
                                      "small.json");
}

struct Fixture {
  TemporaryFolder folder;
  FormulaEvaluator evaluator;
  std::unique_ptr<store::RecordStore> store;
  SessionServices services;
  TuneRequest request;
  bool ready = false;

  Fixture() {
    auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates({}));
    if (!nvrtc) {
      MESSAGE("no NVRTC: ", nvrtc.error().message);
      return;
    }
    const auto cache = std::make_shared<jit::CubinCache>(folder.path() / "cache");
    services.compiler = std::make_shared<jit::Compiler>(*nvrtc, cache);
    open();
    services.evaluator = &evaluator;
    services.limits = representative_device({8, 0, false});
    Device device;
    device.name = "Fictional GPU";
    device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
    device.arch = {8, 0, false};
    services.device = device;
    services.run = {"test", "13.0", 0, ""};
    request.problem = make_problem({256, 256, 256});
    request.arch = {8, 0, false};
    request.spaces = {small_space()};
    request.max_candidates = 100;
    request.compile_threads = 2;
    ready = true;
  }

  void open() {
    store.reset();
    store::StoreOptions options;
    options.path = folder.path() / "tuned.db";
    auto opened = store::open_store(options);
    REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
    store = std::move(*opened);
    services.store = store.get();
  }

  store::Filter filter() const {
    store::Filter filter;
    filter.arch = request.arch;
    filter.device_uuid = services.device ? services.device->uuid : "";
    return filter;
  }
};

TEST_CASE_FIXTURE(Fixture, "a session tries the whole space, records it, and finds the best") {
  if (!ready) return;
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), report.error().message);
  CHECK(report->legal_points == 12);
  CHECK(report->evaluated == 12);
  REQUIRE_FALSE(report->ranking.empty());
  const auto best = parse_tile(report->ranking.front().key.config);
  REQUIRE(best);
  CHECK(best->tile_m == 64);
  CHECK(best->tile_n == 64);
  CHECK(best->order == 0);
  CHECK(report->vendor_best->measurement->median_us == 100);
  CHECK(store->best(request.problem, filter())->value().key.config ==
        report->ranking.front().key.config);
  CHECK(store->candidates(request.problem, filter())->size() == 13);  // and the vendor
}

TEST_CASE_FIXTURE(Fixture, "what is recorded is not tried again, unless asked for") {
  if (!ready) return;
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

TEST_CASE_FIXTURE(Fixture, "an interrupted session keeps what it has, and the next one finishes") {
  if (!ready) return;
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
  if (!ready) return;
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
  if (!ready) return;
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

TEST_CASE_FIXTURE(Fixture, "without a device the result is a prediction and says so") {
  if (!ready) return;
  services.device.reset();
  int verified = 0;
  ModelEvaluator model(
      request.problem, services.limits, [&](const codegen::KernelSpec&) -> Expected<Verdict> {
        return ++verified == 1 ? Verdict{VerdictKind::wrong_result, "planted", 0} : Verdict{};
      });
  services.evaluator = &model;
  const auto report = tune(request, services);
  REQUIRE_MESSAGE(report.has_value(), report.error().message);
  REQUIRE_FALSE(report->ranking.empty());
  CHECK(report->ranking.front().provenance == store::Provenance::predicted);
  CHECK_FALSE(report->ranking.front().measurement);
  CHECK(verified == 2);  // the first winner was wrong, the next one took its place
  CHECK_FALSE(report->vendor_best);
}

TEST_CASE_FIXTURE(Fixture, "a space without a legal tile is a usage error") {
  if (!ready) return;
  request.spaces.front().values[3] = {16};  // warp_m 16 x warp_n 32 is not 32 thread tiles
  const auto report = tune(request, services);
  REQUIRE_FALSE(report);
  CHECK(report.error().kind == ErrorKind::usage);
}

}  // namespace
}  // namespace gemmtune::tuner
