#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "tuner/model/calibration.h"
#include "tuner/model/candidate_features.h"

namespace gemmtune::tuner {
namespace {

constexpr int kVersion = 1;
constexpr int kVersionWithBase = 2;

// Where today's candidates have the features that a calibration was fitted to. Fields that tiles
// did not have then are left out. Empty if it knows others, or lacks more.
std::vector<int> places_of(const std::vector<std::string>& features) {
  const std::vector<std::string> today = candidate_feature_names();
  std::vector<int> places;
  size_t next = 0;
  for (size_t place = 0; place < today.size(); ++place) {
    if (next < features.size() && features[next] == today[place]) {
      places.push_back(static_cast<int>(place));
      ++next;
    } else if (place >= strategy_feature()) {
      return {};
    }
  }
  return next == features.size() ? places : std::vector<int>{};
}

Expected<Calibration> broken(const std::string& why) {
  return make_error(ErrorKind::failed, "this is no calibration of the model: " + why);
}

}  // namespace

struct CalibrationJson {
  static nlohmann::ordered_json write(const Calibration& calibration) {
    nlohmann::ordered_json json;
    json["calibration"] = calibration.base_ ? kVersionWithBase : kVersion;
    json["features"] = candidate_feature_names();
    if (calibration.held_out_spread_) json["held_out_spread"] = *calibration.held_out_spread_;
    json["strategies"] = nlohmann::ordered_json::array();
    for (const Calibration::OfStrategy& of : calibration.strategies_) {
      json["strategies"].push_back(
          {{"strategy", of.name}, {"problems", of.problems}, {"candidates", of.candidates}});
    }
    json["trees"] = calibration.forest_.trees_as_text();
    if (calibration.base_) json["base"] = write(*calibration.base_);
    return json;
  }

  static Expected<Calibration> read(const nlohmann::json& json) {
    const nlohmann::json& version = json.at("calibration");
    const std::vector<int> places = places_of(json.at("features").get<std::vector<std::string>>());
    if ((version != kVersion && version != kVersionWithBase) || places.empty()) {
      return make_error(ErrorKind::unsupported,
                        "the calibration is of another version of gemm-tune; fit it again "
                        "(gemm-tune model fit)");
    }
    Calibration out;
    for (const nlohmann::json& of : json.at("strategies")) {
      out.strategies_.push_back({of.at("strategy"), of.at("problems"), of.at("candidates")});
    }
    if (json.contains("held_out_spread")) out.held_out_spread_ = json["held_out_spread"];
    const auto trees = json.at("trees").get<std::vector<std::string>>();
    auto forest = RegressionForest::read_trees(trees, places);
    if (!forest) return broken("a tree cannot be read");
    out.forest_ = *std::move(forest);
    if (version == kVersion) return out;
    auto base = read(json.at("base"));
    if (!base) return base;
    out.base_ = std::make_shared<const Calibration>(*std::move(base));
    return out;
  }
};

std::string Calibration::to_json() const {
  return to_text(CalibrationJson::write(*this), 1);
}

Expected<Calibration> Calibration::from_json(std::string_view text) {
  try {
    return CalibrationJson::read(parse_json(text));
  } catch (const nlohmann::json::exception& error) {
    return broken(error.what());
  } catch (const RepeatedKey& error) {
    return broken(error.message);
  }
}

}  // namespace gemmtune::tuner
