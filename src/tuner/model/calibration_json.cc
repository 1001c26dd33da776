#include <nlohmann/json.hpp>
#include <string>

#include "core/json_text.h"
#include "tuner/model/calibration.h"
#include "tuner/model/candidate_features.h"

namespace gemmtune::tuner {
namespace {

constexpr int kVersion = 1;

}  // namespace

std::string Calibration::to_json() const {
  nlohmann::ordered_json json;
  json["calibration"] = kVersion;
  json["features"] = candidate_feature_names();
  if (held_out_spread_) json["held_out_spread"] = *held_out_spread_;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const OfStrategy& of : strategies_) {
    json["strategies"].push_back(
        {{"strategy", of.name}, {"problems", of.problems}, {"candidates", of.candidates}});
  }
  json["trees"] = forest_.trees_as_text();
  return json.dump(1) + "\n";
}

Expected<Calibration> Calibration::from_json(std::string_view text) {
  const auto broken = [](const std::string& why) {
    return make_error(ErrorKind::failed, "this is no calibration of the model: " + why);
  };
  try {
    const nlohmann::json json = parse_json(text);
    if (json.at("calibration") != kVersion ||
        json.at("features").get<std::vector<std::string>>() != candidate_feature_names()) {
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
    auto forest = RegressionForest::read_trees(trees, candidate_feature_names().size());
    if (!forest) return broken("a tree cannot be read");
    out.forest_ = *std::move(forest);
    return out;
  } catch (const nlohmann::json::exception& error) {
    return broken(error.what());
  } catch (const RepeatedKey& error) {
    return broken(error.message);
  }
}

}  // namespace gemmtune::tuner
