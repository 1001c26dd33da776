#include "app/model/model_report.h"

#include <map>
#include <memory>
#include <utility>

#include "app/common/records.h"
#include "app/model/measured_kernels.h"
#include "codegen/strategy.h"
#include "tuner/model/known_calibration.h"

namespace gemmtune::app {
namespace {

using Calibrations = std::map<std::string, std::shared_ptr<const tuner::Calibration>>;  // by arch

// What searches for that arch use.
Expected<const tuner::Calibration*> calibration_of(store::RecordStore& store, Arch arch,
                                                   Calibrations& known) {
  const auto [at, added] = known.try_emplace(to_string(tuner::calibrated_arch(arch)));
  if (added) {
    auto calibration = tuner::known_calibration(store, arch);
    if (!calibration) return tl::unexpected(calibration.error());
    at->second = *std::move(calibration);
  }
  return at->second.get();
}

struct Judges {
  tuner::ModelJudge model;
  tuner::ModelJudge calibrated;
};

void judge(const MeasuredJob& job, const tuner::Calibration* calibration,
           std::map<std::string, Judges>& judges) {
  struct Candidates {
    std::vector<tuner::JudgedCandidate> model;
    std::vector<tuner::JudgedCandidate> calibrated;
  };
  std::map<std::string, Candidates> of_strategy;
  for (const MeasuredKernel& kernel : job.kernels) {
    const auto expected = [&](const tuner::Calibration* by) {
      return tuner::expected_us(kernel.spec, job.job.problem, job.limits, by);
    };
    Candidates& candidates = of_strategy[std::string(kernel.spec.strategy->name())];
    candidates.model.push_back({expected(nullptr), kernel.us});
    candidates.calibrated.push_back({expected(calibration), kernel.us});
  }
  for (const auto& [strategy, candidates] : of_strategy) {
    judges[strategy].model.add(candidates.model);
    judges[strategy].calibrated.add(candidates.calibrated);
  }
}

}  // namespace

Expected<ModelReport> model_report(const Context& context, const FilterOptions& options) {
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto jobs = measured_kernels(**store, options);
  if (!jobs) return tl::unexpected(jobs.error());
  Calibrations known;
  std::map<std::string, Judges> judges;
  for (const MeasuredJob& job : *jobs) {
    auto calibration = calibration_of(**store, job.job.arch, known);
    if (!calibration) return tl::unexpected(calibration.error());
    judge(job, *calibration, judges);
  }
  ModelReport report;
  for (const auto& [strategy, of] : judges)
    report.strategies.push_back({strategy, of.model.judgement(), of.calibrated.judgement()});
  return report;
}

}  // namespace gemmtune::app
