#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "cli/verify.h"

namespace gemmtune::cli {
namespace {

std::string_view verdict_name(tuner::VerdictKind kind) {
  switch (kind) {
    case tuner::VerdictKind::correct:
      return "correct";
    case tuner::VerdictKind::wrong_result:
      return "wrong_result";
    case tuner::VerdictKind::out_of_bounds:
      return "out_of_bounds";
    case tuner::VerdictKind::unwritten:
      return "unwritten";
  }
  return "";
}

std::string outcome(const VerifiedKernel& kernel) {
  return kernel.failure.empty() ? std::string(verdict_name(kernel.verdict.kind)) : "failed";
}

}  // namespace

std::string verify_text(const VerifyReport& report) {
  Table table({{"verdict"}, {"max error", Table::Align::right}, {"tile"}, {"detail"}});
  size_t wrong = 0;
  for (const VerifiedKernel& kernel : report.kernels) {
    wrong += kernel.correct() ? 0 : 1;
    table.add({outcome(kernel), fmt::format("{:.2e}", kernel.verdict.max_error), kernel.config,
               kernel.failure.empty() ? kernel.verdict.detail : kernel.failure});
  }
  const std::string where = report.backend == "gpu" && report.target.device
                                ? "on " + report.target.device->name
                                : "on the CPU's PTX simulator";
  const std::string cases = report.cases > 0 ? fmt::format(", {} cases each", report.cases) : "";
  return fmt::format("{} for {} {}{}\n{}{} of {} kernels are correct\n", report.strategy,
                     to_string(report.target.arch), where, cases, table.text(),
                     report.kernels.size() - wrong, report.kernels.size());
}

std::string verify_json(const VerifyReport& report) {
  nlohmann::ordered_json json;
  json["strategy"] = report.strategy;
  json["backend"] = report.backend;
  json["arch"] = to_string(report.target.arch);
  json["device"] = nullptr;
  if (report.target.device) json["device"] = report.target.device->name;
  json["cases"] = report.cases;
  json["correct"] = report.correct();
  json["kernels"] = nlohmann::ordered_json::array();
  for (const VerifiedKernel& kernel : report.kernels) {
    json["kernels"].push_back(
        {{"config", kernel.config},
         {"verdict", outcome(kernel)},
         {"detail", kernel.failure.empty() ? kernel.verdict.detail : kernel.failure},
         {"max_error", kernel.verdict.max_error}});
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
