#include "app/model/model_fit.h"

#include <doctest/doctest.h>
#include <spdlog/logger.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "../../contains.h"
#include "../../test_folder.h"
#include "app/model/model_report.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "tuner/model/known_calibration.h"

namespace gemmtune::app {
namespace {

constexpr Arch kAmpere = {8, 0, false};
constexpr auto kStrategy = "double_buffer";

Device a100() {
  Device device;
  device.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  device.name = "NVIDIA A100-SXM4-80GB";
  device.arch = kAmpere;
  device.sm_count = 108;
  return device;
}

store::Record measured(const Problem& problem, const TileConfig& tile, double us) {
  store::Record record;
  record.job = {problem, kAmpere, a100().uuid, false};
  record.key = {kStrategy, to_string(tile), "0123456789abcdef", "13.0"};
  store::Measurement measurement;
  measurement.median_us = measurement.ci_low_us = measurement.ci_high_us = measurement.min_us = us;
  measurement.sample_count = 1;
  measurement.samples_us = {us};
  record.measurement = measurement;
  return record;
}

// Kernels of a database that take `factor` times as long as the model thinks.
struct Bench {
  TestFolder folder;
  Context context;

  explicit Bench(int problems, double factor) {
    context.places.db = folder.file("tuned.db");
    context.log = std::make_shared<spdlog::logger>("silent");
    store::StoreOptions options;
    options.path = context.places.db;
    auto store = store::open_store(options);
    REQUIRE(store);
    REQUIRE((*store)->add_device(a100()));
    store->reset();
    add_problems(0, problems, factor);
  }

  // Candidates of `count` problems from that number on.
  void add_problems(int first, int count, double factor) const {
    const auto store = open();
    const auto run = store->begin_run({"0.1.0", "13.0", 13000, "test"});
    REQUIRE(run);
    const DeviceSpec limits = device_limits(a100(), kAmpere);
    const codegen::Strategy& strategy = **codegen::find_strategy(kStrategy);
    const auto space = *codegen::default_search_space(strategy);
    for (int p = first; p < first + count; ++p) {
      const Problem problem = make_problem({256 << p, 512, 1024 + 32 * p});
      int added = 0;
      for (size_t i = 0; added < kCandidates; i += 977) {
        const auto spec = codegen::spec_for(strategy, space.at(i % space.size()), problem, kAmpere);
        if (codegen::broken_rule(spec, limits) != nullptr) continue;
        const double us = tuner::expected_us(spec, problem, limits, nullptr);
        store::Record record = measured(problem, spec.tile, factor * us);
        record.run_id = *run;
        REQUIRE(store->record(record));
        ++added;
      }
    }
  }
  static constexpr int kCandidates = 40;

  std::unique_ptr<store::RecordStore> open() const {
    store::StoreOptions options;
    options.path = context.places.db;
    return *store::open_store(options);
  }
};

TEST_CASE("model fit: what the model is off by is learnt, kept, and used") {
  const Bench bench(5, 1.5);
  const auto fit = model_fit(bench.context, {});
  REQUIRE_MESSAGE(fit.has_value(), fit.error().message);
  REQUIRE(fit->archs.size() == 1);
  const ArchFit& of = fit->archs.front();
  CHECK(to_string(of.arch) == "sm_80");
  CHECK(of.kept);
  REQUIRE(of.judged.size() == 2);
  CHECK(of.judged[0].strategy == kStrategy);
  CHECK(of.judged[1].strategy.empty());
  CHECK(of.judged[1].model.ratio == doctest::Approx(1 / 1.5));
  CHECK(of.judged[1].calibrated.ratio == doctest::Approx(1).epsilon(0.01));
  CHECK(of.judged[1].calibrated.candidates == 5 * Bench::kCandidates);

  const auto known = tuner::known_calibration(*bench.open(), kAmpere);
  REQUIRE(known);
  REQUIRE(*known);
  CHECK((*known)->knows(kStrategy));
  const auto report = model_report(bench.context, {});
  REQUIRE(report);
  REQUIRE(report->strategies.size() == 1);
  CHECK(report->strategies[0].model.ratio == doctest::Approx(1 / 1.5));
  CHECK(report->strategies[0].calibrated.ratio == doctest::Approx(1).epsilon(0.01));

  const auto json = nlohmann::json::parse(model_fit_json(*fit));
  CHECK(json["archs"][0]["kept"] == true);
  CHECK(json["archs"][0]["strategies"][0]["strategy"] == kStrategy);
  CHECK(json["archs"][0]["all"]["calibrated"]["spread"] < 1.02);
}

TEST_CASE("model fit: nothing is kept where the model alone is as good") {
  const Bench bench(5, 1);
  const auto fit = model_fit(bench.context, {});
  REQUIRE(fit);
  CHECK_FALSE(fit->archs.front().kept);
  CHECK_FALSE(*bench.open()->calibration(kAmpere));
}

TEST_CASE("model fit: too little to learn from is an error that says what to do") {
  const Bench bench(2, 1.5);
  const auto fit = model_fit(bench.context, {});
  REQUIRE_FALSE(fit);
  CHECK(fit.error().kind == ErrorKind::not_found);
  CHECK(contains(fit.error().message, "tune more problems first"));
  const auto other = model_fit(bench.context, {"sm_90", ""});
  REQUIRE_FALSE(other);
  CHECK(other.error().kind == ErrorKind::not_found);
  CHECK(model_fit(bench.context, {"sm_9", ""}).error().kind == ErrorKind::usage);
}

TEST_CASE("after a tuning the model learns, and again when half as much is new") {
  const Bench bench(5, 1.5);
  const auto first = fit_if_grown(bench.context, kAmpere);
  REQUIRE_MESSAGE(first.has_value(), first.error().message);
  REQUIRE(*first);
  CHECK((*first)->judged.back().calibrated.candidates == 5 * Bench::kCandidates);
  CHECK(*bench.open()->calibration(kAmpere));
  const auto again = fit_if_grown(bench.context, kAmpere);
  REQUIRE(again);
  CHECK_FALSE(*again);
  bench.add_problems(5, 3, 1.5);
  const auto grown = fit_if_grown(bench.context, kAmpere);
  REQUIRE(grown);
  REQUIRE(*grown);
  CHECK((*grown)->judged.back().calibrated.candidates == 8 * Bench::kCandidates);
}

TEST_CASE("after a tuning of little, or of another arch, there is nothing to learn") {
  const Bench bench(2, 1.5);
  const auto little = fit_if_grown(bench.context, kAmpere);
  REQUIRE(little);
  CHECK_FALSE(*little);
  const auto other = fit_if_grown(bench.context, {8, 9, false});
  REQUIRE(other);
  CHECK_FALSE(*other);
}

TEST_CASE("model fit: -o writes a file that can be read again, and keeps nothing") {
  const Bench bench(5, 1.5);
  const std::string file = bench.folder.file("sm_80.json");
  const auto fit = model_fit(bench.context, {"sm_80", file});
  REQUIRE(fit);
  CHECK_FALSE(fit->archs.front().kept);
  CHECK_FALSE(*bench.open()->calibration(kAmpere));
  std::ifstream in(file);
  std::string text;
  std::getline(in, text, '\0');
  const auto read = tuner::Calibration::from_json(text);
  REQUIRE(read);
  CHECK(read->knows(kStrategy));
}

TEST_CASE("model fit: -o FILE keeps a link and the permissions of what it replaces") {
  namespace fs = std::filesystem;
  const Bench bench(5, 1.5);
  const std::string file = bench.folder.write("private.json", "old");
  const std::string link = bench.folder.file("link.json");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(file, link);
  REQUIRE(model_fit(bench.context, {"sm_80", link}));
  CHECK(fs::is_symlink(link));
  CHECK(fs::file_size(file) > 100);
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("model fit: a file that cannot be written is refused before the fit") {
  const Bench bench(2, 1.5);  // too little to fit
  const auto refused = model_fit(bench.context, {"sm_80", bench.folder.file("none/sm_80.json")});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::usage);
  CHECK(contains(refused.error().message, "there is no folder"));
  CHECK_FALSE(std::filesystem::exists(bench.folder.file("none")));
}

}  // namespace
}  // namespace gemmtune::app
