#include <nlohmann/json.hpp>
#include <utility>

#include "app/model/judgement_json.h"
#include "app/model/model_fit.h"
#include "core/json_text.h"

namespace gemmtune::app {

std::string model_fit_json(const ModelFit& fit) {
  nlohmann::ordered_json json;
  json["archs"] = nlohmann::ordered_json::array();
  for (const ArchFit& of : fit.archs) {
    nlohmann::ordered_json row = {{"arch", to_string(of.arch)}, {"kept", of.kept}};
    row["strategies"] = nlohmann::ordered_json::array();
    for (const tuner::HeldOutJudgement& judged : of.judged) {
      const nlohmann::ordered_json held_out = {{"model", judgement_json(judged.model)},
                                               {"calibrated", judgement_json(judged.calibrated)}};
      if (judged.strategy.empty()) {
        row["all"] = held_out;
        continue;
      }
      nlohmann::ordered_json strategy = {{"strategy", judged.strategy}};
      strategy.update(held_out);
      row["strategies"].push_back(std::move(strategy));
    }
    if (of.shipped) row["shipped"] = judgement_json(*of.shipped);
    json["archs"].push_back(std::move(row));
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
