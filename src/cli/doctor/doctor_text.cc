#include "cli/doctor/doctor_text.h"

#include <fmt/format.h>

#include "app/common/version.h"

namespace gemmtune::cli {
namespace {

std::string summary(const app::Diagnosis& diagnosis) {
  if (diagnosis.can_measure) return "kernels can be tuned and measured here";
  if (diagnosis.can_predict) return "kernels can be compiled here, and their times predicted";
  return "nothing can be tuned here: " + diagnosis.obstacle;
}

}  // namespace

std::string doctor_text(const app::Diagnosis& diagnosis) {
  std::string text = fmt::format("gemm-tune {}\n", app::kVersion);
  for (const app::Finding& finding : diagnosis.findings) {
    text +=
        fmt::format("{:<9} {:<10} {}\n", to_string(finding.health), finding.name, finding.detail);
    if (!finding.advice.empty()) text += fmt::format("{:<20} -> {}\n", "", finding.advice);
  }
  return text + fmt::format("{}\n", summary(diagnosis));
}

}  // namespace gemmtune::cli
