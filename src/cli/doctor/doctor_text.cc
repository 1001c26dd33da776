#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/doctor/doctor.h"
#include "app/common/version.h"

namespace gemmtune::cli {
namespace {

std::string_view health_name(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::missing:
      return "missing";
    case Health::broken:
      return "broken";
  }
  return "";
}

std::string_view summary(const Diagnosis& diagnosis) {
  if (diagnosis.can_measure) return "kernels can be tuned and measured here";
  if (diagnosis.can_predict) return "kernels can be compiled here, and their times predicted";
  return "nothing can be tuned here: there is no compiler";
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis) {
  std::string text = fmt::format("gemm-tune {}\n", kVersion);
  for (const Finding& finding : diagnosis.findings) {
    text +=
        fmt::format("{:<9} {:<10} {}\n", health_name(finding.health), finding.name, finding.detail);
    if (!finding.advice.empty()) text += fmt::format("{:<20} -> {}\n", "", finding.advice);
  }
  return text + fmt::format("{}\n", summary(diagnosis));
}

std::string doctor_json(const Diagnosis& diagnosis) {
  nlohmann::ordered_json json;
  json["tool_version"] = kVersion;
  json["can_predict"] = diagnosis.can_predict;
  json["can_measure"] = diagnosis.can_measure;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : diagnosis.findings) {
    json["findings"].push_back({{"name", finding.name},
                                {"health", health_name(finding.health)},
                                {"detail", finding.detail},
                                {"advice", finding.advice}});
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
