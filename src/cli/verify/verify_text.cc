#include "cli/verify/verify_text.h"

#include <fmt/format.h>

#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string text_of(const Dim3& extent) {
  return fmt::format("{}x{}x{}", extent.x, extent.y, extent.z);
}

std::string profiles_text(const app::VerifyReport& report) {
  std::string text;
  if (!report.profiled) return text;
  for (const app::VerifiedKernel& kernel : report.kernels) {
    for (const tuner::LaunchProfile& launch : kernel.launches) {
      text += fmt::format("\n{} of {}\n  grid {}, block {}: {}\n\n{}", kernel.config,
                          to_string(report.profiled->shape), text_of(launch.grid),
                          text_of(launch.block), launch.entry, to_string(launch.counts));
    }
  }
  return text;
}

}  // namespace

std::string verify_text(const app::VerifyReport& report) {
  Table table({{"verdict"}, {"max error", kRight}, {"tile"}, {"detail"}});
  size_t wrong = 0;
  for (const app::VerifiedKernel& kernel : report.kernels) {
    wrong += kernel.correct() ? 0 : 1;
    table.add({std::string(app::outcome_of(kernel)),
               fmt::format("{:.2e}", kernel.verdict.max_error), kernel.config,
               kernel.failure.empty() ? kernel.verdict.detail : kernel.failure});
  }
  const std::string where = report.backend == "gpu" && report.target.device
                                ? "on " + report.target.device->name
                                : "on the CPU's PTX simulator";
  const std::string cases = report.cases > 0 ? fmt::format(", {} cases each", report.cases) : "";
  return fmt::format("{} for {} {}{}\n{}{} of {} kernels are correct\n{}", report.strategy,
                     to_string(report.target.arch), where, cases, table.text(),
                     report.kernels.size() - wrong, report.kernels.size(), profiles_text(report));
}

}  // namespace gemmtune::cli
