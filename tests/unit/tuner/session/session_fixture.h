#pragma once

// What tests of sessions share: a fake evaluator, a small space, a store in a temporary folder.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/session/session.h"

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
  Expected<Evaluation> evaluate(const Candidate& candidate,
                                const jit::CompiledKernel& kernel) override {
    asked.push_back(candidate.key);
    if (on_evaluate) on_evaluate(asked.size());
    searched_bytes[candidate.key] = kernel.cubin.size();
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
      final_bytes[finalist.candidate.key] = finalist.kernel.cubin.size();
    }
    results.vendor = *measure_vendor();
    return results;
  }

  double busy_seconds() const override { return 0.25 * static_cast<double>(asked.size()); }

  std::vector<store::CandidateKey> asked;
  std::function<void(size_t)> on_evaluate;  // told how many it was asked for; may be empty
  std::map<store::CandidateKey, size_t> searched_bytes;  // of machine code
  std::map<store::CandidateKey, size_t> final_bytes;
  int wrong_order = -1;
  double final_factor = 1;     // the times of the final round over those of the search
  bool all_are_alike = false;  // in time
  bool all_are_slow = false;   // next to the vendor: no candidate is measured to the end
  std::atomic<bool>* stop = nullptr;
  size_t stop_after = 0;
  size_t crash_at = 0;

 private:
  double time_us(const TileConfig& t) const {
    if (all_are_alike) return 50;
    return 50 + std::abs(t.tile_m - 64) + std::abs(t.tile_n - 64) + t.order;
  }
  static store::Measurement measurement(double us) {
    store::Measurement m;
    m.median_us = m.ci_low_us = m.ci_high_us = m.min_us = us;
    m.sample_count = 1;
    return m;
  }
};

// Compiles nothing: a session's tests are about what it does with the results.
class FakeCompiler final : public jit::KernelCompiler {
 public:
  jit::NvrtcVersion version() const override { return {13, 0}; }
  Expected<void> check_arch(Arch) const override { return {}; }
  jit::CompileResult compile(const jit::CompileRequest& request) const override {
    const std::lock_guard lock(mutex_);
    const int before = times_[request.source.text]++;
    if (killed && killed(request, before)) {
      return tl::unexpected(
          jit::CompileFailure{jit::CompilePhase::process, "signal 9", "signal 9"});
    }
    if (broken && broken(request)) {
      return tl::unexpected(
          jit::CompileFailure{jit::CompilePhase::front_end, "planted", "planted"});
    }
    jit::CompiledKernel kernel;
    kernel.name = request.source.name;
    kernel.arch = request.arch;
    // As if no compilation gave the same code as the one before.
    if (!caching) kernel.cubin.resize(static_cast<size_t>(before) + 1);
    kernel.from_cache = caching && before > 0;
    for (const std::string& entry : request.source.entries) {
      kernel.entries.push_back({entry, {}});
      kernel.entries.back().usage.registers = registers;
      if (spilling && spilling(request)) kernel.entries.back().usage.spill_store_bytes = 8;
    }
    return kernel;
  }
  int compiled() const {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (const auto& [text, times] : times_) all += times;
    return all;
  }
  // How often a text was compiled, at most.
  int most_often() const {
    const std::lock_guard lock(mutex_);
    int most = 0;
    for (const auto& [text, times] : times_) most = std::max(most, times);
    return most;
  }

  bool caching = true;
  int registers = 0;                                         // of every kernel
  std::function<bool(const jit::CompileRequest&)> broken;    // may be empty
  std::function<bool(const jit::CompileRequest&)> spilling;  // the same
  // Told how often it was called for this source; may be empty.
  std::function<bool(const jit::CompileRequest&, int before)> killed;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, int> times_;
};

inline codegen::SearchSpace space_of(std::string_view json) {
  auto space = codegen::parse_search_space(json, "a test's space");
  REQUIRE_MESSAGE(space.has_value(), (space ? "" : space.error().message));
  return std::move(*space);
}

inline codegen::SearchSpace small_space() {
  return space_of(R"({"strategy": "double_buffer", "values": {
      "tile_m": [32, 64], "tile_n": [32, 64], "tile_k": [8], "warp_m": [32], "warp_n": [32],
      "thread_m": [8], "thread_n": [4], "lanes": [0], "order": [0, 1, 2], "copy": [0],
      "fragments": [1], "min_blocks": [0], "raster": [1]}})");
}

struct Fixture {
  TemporaryFolder folder;
  FormulaEvaluator evaluator;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  std::unique_ptr<store::RecordStore> store;
  SessionServices services;
  TuneRequest request;
  std::chrono::minutes later{0};  // than it is, by the clock of the store

  Fixture() {
    services.compiler = compiler;
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
    request.spaces = {small_space()};
    request.max_candidates = 100;
    request.threads = 2;
  }

  void open() {
    store.reset();
    store::StoreOptions options;
    options.path = folder.path() / "tuned.db";
    options.now = [this] { return std::chrono::system_clock::now() + later; };
    auto opened = store::open_store(options);
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
    store = std::move(*opened);
    services.store = store.get();
  }

  store::Job job() const {
    return {request.problem, services.limits.arch, services.device->uuid, request.warm};
  }

  // The candidates of the small space, as the session makes them.
  std::vector<store::CandidateKey> keys() const {
    std::vector<store::CandidateKey> keys;
    const codegen::SearchSpace& space = request.spaces.front();
    for (int64_t i = 0; i < space.size(); ++i) {
      const auto spec = codegen::spec_for(*space.strategy, space.at(i), canonical(request.problem),
                                          services.limits.arch);
      keys.push_back(make_candidate(spec, to_string(compiler->version())).key);
    }
    return keys;
  }

  store::Filter filter() const {
    store::Filter filter;
    filter.arch = services.limits.arch;
    filter.device_uuid = services.device ? services.device->uuid : "";
    return filter;
  }
};

}  // namespace gemmtune::tuner::session_test
