#include "app/doctor/doctor.h"

#include <nlohmann/json.hpp>

#include "app/common/version.h"
#include "core/json_text.h"

namespace gemmtune::app {

std::string doctor_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["tool_version"] = kVersion;
  json["can_predict"] = diagnosis.can_predict;
  json["can_measure"] = diagnosis.can_measure;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : diagnosis.findings) {
    json["findings"].push_back({{"name", finding.name},
                                {"health", to_string(finding.health)},
                                {"detail", finding.detail},
                                {"advice", finding.advice}});
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
