#include "tuner/model/calibration.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "measured_kernels.h"
#include "tuner/model/candidate_features.h"
#include "tuner/model/known_calibration.h"

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, true};

// Of 60 problems up to 40 candidates each, of all strategies that were searched. Of half of them
// nothing is learnt that holds for others. Some need more shared memory today than there is.
std::vector<CalibrationSample> read_samples() {
  const DeviceSpec& device = *find_device_spec("h200");
  std::vector<CalibrationSample> samples;
  size_t all = 0;
  for (const MeasuredKernel& kernel : read_measured(GEMMTUNE_MEASURED_MIXED)) {
    ++all;
    auto sample = calibration_sample(kernel.spec, kernel.problem, device, kernel.us);
    if (std::isfinite(sample.predicted_us)) samples.push_back(std::move(sample));
  }
  REQUIRE(samples.size() >= all * 97 / 100);
  return samples;
}

const std::vector<CalibrationSample>& samples() {
  static const std::vector<CalibrationSample> kSamples = read_samples();
  return kSamples;
}

const Calibration& fitted() {
  static const auto kFitted = Calibration::fit(samples(), 1);
  REQUIRE(kFitted);
  return *kFitted;
}

TEST_CASE("as many names of features as features") {
  CHECK(candidate_feature_names().size() == samples().front().features.size());
  CHECK(candidate_feature_names()[strategy_feature()] == "strategy");
}

TEST_CASE("a calibration predicts shapes that it has not seen better than the model") {
  const auto judged = judge_held_out(fitted(), samples(), 1);
  REQUIRE(judged.size() >= 3);
  const HeldOutJudgement& all = judged.back();
  CHECK(all.strategy.empty());
  CAPTURE(all.model.spread);
  CAPTURE(all.calibrated.spread);
  CHECK(all.calibrated.spread < 1 + 0.7 * (all.model.spread - 1));
  CAPTURE(all.model.rank_correlation);
  CAPTURE(all.calibrated.rank_correlation);
  CHECK(all.calibrated.rank_correlation > all.model.rank_correlation + 0.17);
  CAPTURE(all.model.top_near);
  CAPTURE(all.calibrated.top_near);
  CHECK(all.calibrated.top_near > all.model.top_near);
  CHECK(std::abs(std::log(all.calibrated.ratio)) < 0.05);
}

TEST_CASE("as JSON and back, times change by what four digits of a threshold decide") {
  const auto read = Calibration::from_json(fitted().to_json());
  REQUIRE(read);
  size_t same = 0;
  for (const CalibrationSample& sample : samples()) {
    const double factor = read->estimate(sample).us / fitted().estimate(sample).us;
    CHECK(factor == doctest::Approx(1).epsilon(0.15));
    if (std::abs(factor - 1) < 0.01) ++same;
  }
  CHECK(same >= samples().size() * 95 / 100);
  CHECK(read->to_json() == fitted().to_json());
}

TEST_CASE("how far it was off shapes left out is kept with it") {
  Calibration judged = fitted();
  CHECK_FALSE(Calibration::from_json(judged.to_json())->held_out_spread());
  judged.set_held_out_spread(1.25);
  CHECK(Calibration::from_json(judged.to_json())->held_out_spread() == 1.25);
}

TEST_CASE("of strategies that it does not know, times stay as they are") {
  CHECK(fitted().knows("wgmma_tma"));
  CHECK_FALSE(fitted().knows("naive"));
  CalibrationSample other = samples().front();
  other.strategy = "naive";
  CHECK(fitted().estimate(other).us == other.predicted_us);
  CHECK(fitted().estimate(other).spread == 1);
  CalibrationSample impossible = samples().front();
  impossible.predicted_us = INFINITY;
  CHECK(std::isinf(fitted().estimate(impossible).us));
}

// As if another device took half as long again for the kernels of a strategy.
std::vector<CalibrationSample> slower(const std::string& strategy) {
  std::vector<CalibrationSample> changed;
  for (CalibrationSample sample : samples()) {
    if (sample.strategy != strategy) continue;
    sample.measured_us *= 1.5;
    changed.push_back(std::move(sample));
  }
  return changed;
}

std::shared_ptr<const Calibration> base() {
  return std::make_shared<const Calibration>(fitted());
}

TEST_CASE("on a base it learns what that gets wrong, and keeps the rest") {
  const auto changed = slower("wgmma_tma");
  const auto on_base = Calibration::fit(changed, 1, base());
  REQUIRE(on_base);
  double sum = 0;
  for (const CalibrationSample& sample : changed)
    sum += std::log(on_base->estimate(sample).us / fitted().estimate(sample).us);
  CHECK(sum / static_cast<double>(changed.size()) == doctest::Approx(std::log(1.5)).epsilon(0.1));
  for (const CalibrationSample& sample : samples()) {
    if (sample.strategy == "wgmma_tma") continue;
    CHECK(on_base->knows(sample.strategy) == fitted().knows(sample.strategy));
    CHECK(on_base->estimate(sample).us == fitted().estimate(sample).us);
  }
}

TEST_CASE("of few measurements more is learnt on a base") {
  std::vector<CalibrationSample> few = slower("wgmma_tma");
  few.resize(few.size() / 3);
  const auto spread = [&](const std::shared_ptr<const Calibration>& on) {
    const auto calibration = Calibration::fit(few, 1, on);
    REQUIRE(calibration);
    return judge_held_out(*calibration, few, 1).back().calibrated.spread;
  };
  CHECK(spread(base()) < spread(nullptr));
}

TEST_CASE("a base is written and read with what was fitted on it") {
  const auto on_base = Calibration::fit(slower("wgmma_tma"), 1, base());
  REQUIRE(on_base);
  const auto read = Calibration::from_json(on_base->to_json());
  REQUIRE(read);
  CHECK(read->to_json() == on_base->to_json());
  const CalibrationSample& sample = samples().front();
  CHECK(read->estimate(sample).us == doctest::Approx(on_base->estimate(sample).us).epsilon(0.15));
}

TEST_CASE("too few samples are an error") {
  const auto few = Calibration::fit(std::span(samples()).first(50), 1);
  REQUIRE_FALSE(few);
  CHECK(few.error().kind == ErrorKind::not_found);
  CHECK_FALSE(Calibration::fit({}, 1));
  CHECK(judge_held_out(fitted(), {}, 1).empty());
}

TEST_CASE("damaged calibrations are refused, those of other features as another version's") {
  const auto whole = nlohmann::ordered_json::parse(fitted().to_json());
  const auto kind_with = [&](const char* key, const nlohmann::ordered_json& value) {
    auto json = whole;
    json[key] = value;
    const auto read = Calibration::from_json(json.dump());
    REQUIRE_FALSE(read);
    return read.error().kind;
  };
  CHECK(kind_with("calibration", 3) == ErrorKind::unsupported);
  CHECK(kind_with("calibration", 2) == ErrorKind::failed);  // without a base
  CHECK(kind_with("features", {"m", "n"}) == ErrorKind::unsupported);
  CHECK(kind_with("trees", nlohmann::ordered_json::array()) == ErrorKind::failed);
  for (const char* tree : {"", "=", "=x", "=1 =2", "1:2 =1", "1:2 =1 =2 =3", "-1:2 =1 =2",
                           "99999:2 =1 =2", "1: =1 =2", "1:nan =1 =2", "=inf", "1:2  =1 =2"}) {
    CAPTURE(tree);
    CHECK(kind_with("trees", {tree}) == ErrorKind::failed);
  }
  CHECK(kind_with("strategies", 1) == ErrorKind::failed);
  CHECK_FALSE(Calibration::from_json(""));
  CHECK_FALSE(Calibration::from_json("[]"));
}

// As one is that was fitted before tiles had the last of their fields.
TEST_CASE(
    "a calibration that does not know a field of tiles is read, and its trees mean the same") {
  const Calibration today = fitted();
  auto json = nlohmann::ordered_json::parse(today.to_json());
  const size_t last_field = strategy_feature() - 1;
  json["features"].erase(last_field);
  const auto with_places = [&](std::string tree) {
    std::string out;
    for (std::istringstream words(tree); words >> tree;) {
      const size_t colon = tree.find(':');
      if (colon != std::string::npos) {
        const size_t feature = std::stoul(tree.substr(0, colon));
        REQUIRE(feature != last_field);  // does not vary in what was fitted
        tree = std::to_string(feature > last_field ? feature - 1 : feature) + tree.substr(colon);
      }
      out += (out.empty() ? "" : " ") + tree;
    }
    return out;
  };
  for (auto& tree : json["trees"]) tree = with_places(tree);
  const auto read = Calibration::from_json(json.dump());
  REQUIRE(read);
  CHECK(nlohmann::json::parse(read->to_json())["trees"] ==
        nlohmann::json::parse(today.to_json())["trees"]);
}

TEST_CASE("what ships for sm_90 can be read, and knows all strategies of the tensor cores") {
  const auto shipped = shipped_calibration({9, 0, false});
  REQUIRE(shipped);
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    const std::string name(strategy->name());
    CAPTURE(name);
    if (name.find("mma") != std::string::npos) CHECK(shipped->knows(name));
  }
  CHECK(shipped->held_out_spread() < 1.3);
  CHECK(shipped_calibration(kHopper));
  CHECK_FALSE(shipped_calibration({8, 0, false}));
}

TEST_CASE("a store's own calibration comes before what ships, if this program can read it") {
  auto store = store::open_memory_store();
  REQUIRE(store);
  CHECK_FALSE((*known_calibration(**store, {9, 0, false}))->knows("naive"));
  auto own = nlohmann::json::parse(fitted().to_json());
  own["strategies"][0]["strategy"] = "naive";
  REQUIRE((*store)->keep_calibration({9, 0, false}, own.dump()));
  CHECK((*known_calibration(**store, kHopper))->knows("naive"));
  REQUIRE((*store)->keep_calibration({9, 0, false}, R"({"calibration": 0, "features": []})"));
  CHECK_FALSE((*known_calibration(**store, {9, 0, false}))->knows("naive"));
  REQUIRE((*store)->keep_calibration({9, 0, false}, "{"));
  CHECK_FALSE(known_calibration(**store, {9, 0, false}));
  CHECK((*known_calibration(**store, {8, 0, false})) == nullptr);
}

}  // namespace
}  // namespace gemmtune::tuner
