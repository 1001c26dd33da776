#include <nlohmann/json.hpp>

#include "app/model/model_report.h"

namespace gemmtune::app {

std::string model_report_json(const ModelReport& report) {
  nlohmann::ordered_json json;
  json["strategies"] = nlohmann::ordered_json::array();
  for (const auto& [strategy, judgement] : report.strategies) {
    json["strategies"].push_back({{"strategy", strategy},
                                  {"problems", judgement.problems},
                                  {"candidates", judgement.candidates},
                                  {"predicted_over_measured", judgement.ratio},
                                  {"spread", judgement.spread},
                                  {"ranked", judgement.ranked},
                                  {"rank_correlation", judgement.rank_correlation},
                                  {"top_near", judgement.top_near},
                                  {"first_near", judgement.first_near}});
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::app
