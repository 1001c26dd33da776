#include "cli/verify/verify_text.h"

#include <fmt/format.h>

#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

std::string text_of(const Dim3& extent) {
  return fmt::format("{}x{}x{}", extent.x, extent.y, extent.z);
}

std::string where(const std::string& backend, const app::Target& target) {
  return backend == "gpu" && target.device ? "on " + target.device->name
                                           : "on the CPU's PTX simulator";
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
               app::detail_of(kernel)});
  }
  const std::string cases = report.cases > 0 ? fmt::format(", {} cases each", report.cases) : "";
  return fmt::format("{} for {} {}{}\n{}{} of {} kernels are correct\n{}", report.strategy,
                     to_string(report.target.arch), where(report.backend, report.target), cases,
                     table.text(), report.kernels.size() - wrong, report.kernels.size(),
                     profiles_text(report));
}

std::string verify_many_text(const app::VerifyManyReport& report) {
  Table table({{"strategy"},
               {"kernels", kRight},
               {"cases", kRight},
               {"wrong", kRight},
               {"max error", kRight}});
  std::string wrong;
  size_t cases = 0;
  for (const app::VerifiedStrategy& one : report.strategies) {
    cases += one.cases;
    table.add({one.strategy, std::to_string(one.kernels), std::to_string(one.cases),
               std::to_string(one.wrong.size()), fmt::format("{:.2e}", one.max_error)});
    for (const app::VerifiedKernel& kernel : one.wrong)
      wrong += fmt::format("{}: {}\n  {}\n", app::outcome_of(kernel), kernel.config,
                           app::detail_of(kernel));
  }
  const std::string what = report.shipped ? "kernels that come with gemm-tune"
                                          : fmt::format("random cases of seed {}", report.seed);
  return fmt::format("{}, for {} {}\n{}{}{} cases, {}\n", what, to_string(report.target.arch),
                     where(report.backend, report.target), table.text(), wrong, cases,
                     report.correct() ? "every kernel is correct" : "not every kernel is correct");
}

}  // namespace gemmtune::cli
