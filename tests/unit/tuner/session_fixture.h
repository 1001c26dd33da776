#pragma once

// What tests of sessions share: a fake evaluator, a small space, a store in a temporary folder.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/session.h"

namespace gemmtune::tuner::session_test {

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
    if (all_are_slow) evaluation.outcome = store::Outcome::eliminated_early;
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
      evaluation.time_us = final_factor * time_us(finalist.candidate.spec.tile);
      evaluation.measurement = measurement(evaluation.time_us);
      evaluation.measurement->final_round = true;
      results.finalists.push_back(evaluation);
    }
    results.vendor = *measure_vendor();
    return results;
  }

  std::vector<store::CandidateKey> asked;
  int wrong_order = -1;
  double final_factor = 1;    // the times of the final round over those of the search
  bool all_are_slow = false;  // next to the vendor: no candidate is measured to the end
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

inline codegen::SearchSpace space_of(std::string_view json) {
  auto space = codegen::parse_search_space(json, "a test's space");
  REQUIRE_MESSAGE(space.has_value(), space.error().message);
  return std::move(*space);
}

inline codegen::SearchSpace small_space() {
  return space_of(R"({"strategy": "double_buffer", "values": {
      "tile_m": [32, 64], "tile_n": [32, 64], "tile_k": [8], "warp_m": [32], "warp_n": [32],
      "thread_m": [8], "thread_n": [4], "lanes": [0], "order": [0, 1, 2], "copy": [0],
      "fragments": [1], "min_blocks": [0], "raster": [1]}})");
}

// `ready` is false where there is no NVRTC.
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
    request.threads = 2;
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

}  // namespace gemmtune::tuner::session_test
