#include <nlohmann/json.hpp>
#include <utility>

#include "app/model/judgement_json.h"
#include "app/model/model_report.h"
#include "core/json_text.h"

namespace gemmtune::app {

nlohmann::ordered_json judgement_json(const tuner::ModelJudgement& judgement) {
  return {{"problems", judgement.problems},
          {"candidates", judgement.candidates},
          {"predicted_over_measured", judgement.ratio},
          {"spread", judgement.spread},
          {"ranked", judgement.ranked},
          {"rank_correlation", judgement.rank_correlation},
          {"top_near", judgement.top_near},
          {"first_near", judgement.first_near}};
}

std::string model_report_json(const ModelReport& report) {
  nlohmann::ordered_json json;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const auto& [strategy, model, calibrated] : report.strategies) {
    nlohmann::ordered_json row = {{"strategy", strategy}};
    row.update(judgement_json(model));
    row["calibrated"] = judgement_json(calibrated);
    json["strategies"].push_back(std::move(row));
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
