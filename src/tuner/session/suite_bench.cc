#include "tuner/session/suite_bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "vendor/algorithm_names.h"

namespace gemmtune::tuner {
namespace {

BenchSide to_side(const store::Measurement& measurement, std::string config,
                  const std::optional<SustainedLoad>& sustained) {
  return {measurement.median_us,
          measurement.ci_low_us,
          measurement.ci_high_us,
          std::move(config),
          measurement.samples_us,
          measurement.sm_clock_median_mhz,
          sustained};
}

bool is_right(const Evaluation& evaluation) {
  return evaluation.outcome == store::Outcome::ok ||
         evaluation.outcome == store::Outcome::eliminated_early;
}

std::string failure_of(const Evaluation& evaluation) {
  return fmt::format("{}{}{}", store::to_string(evaluation.outcome),
                     evaluation.reason.empty() ? "" : ": ", evaluation.reason);
}

// The kernels of the plan that are right, and where they stand in it.
struct Verified {
  std::vector<Finalist> finalists;
  std::vector<size_t> indices;
};

Expected<Verified> verify(Evaluator& evaluator, const BenchPlan& plan, BenchTimes& times) {
  Verified verified;
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const Finalist& kernel = plan.kernels[i];
    auto evaluation = evaluator.evaluate(kernel.candidate, kernel.kernel);
    if (!evaluation) return tl::unexpected(evaluation.error());
    if (!evaluation->fatal.empty()) return make_error(ErrorKind::failed, evaluation->fatal);
    if (is_right(*evaluation)) {
      verified.finalists.push_back(kernel);
      verified.indices.push_back(i);
    } else {
      times.kernels[i].why_not = failure_of(*evaluation);
    }
  }
  return verified;
}

void take_vendor(const FinalResults& results, const BenchPlan& plan, BenchTimes& times) {
  for (const VendorResult& vendor : results.vendor) {
    const BenchSide side = to_side(vendor.measurement, vendor.config, vendor.sustained);
    if (vendor.rank == 0) times.vendor_first = side;
    if (vendor.rank == plan.vendor_rank) times.vendor_asked = side;
    if (!times.vendor_best || side.median_us < times.vendor_best->median_us)
      times.vendor_best = side;
  }
}

}  // namespace

std::optional<int> find_algorithm(std::span<const VendorResult> offered, std::string_view config) {
  const auto found = std::find_if(offered.begin(), offered.end(), [&](const VendorResult& result) {
    return vendor::without_rank(result.config) == vendor::without_rank(config);
  });
  if (found == offered.end()) return std::nullopt;
  return found->rank;
}

Expected<BenchTimes> bench(Evaluator& evaluator, const BenchPlan& plan) {
  BenchTimes times;
  times.kernels.resize(plan.kernels.size());
  auto verified = verify(evaluator, plan, times);
  if (!verified) return tl::unexpected(verified.error());
  if (plan.vendor_rank) evaluator.add_vendor_finalist(*plan.vendor_rank);
  auto results = evaluator.finish(verified->finalists);
  if (!results) return tl::unexpected(results.error());
  take_vendor(*results, plan, times);
  for (size_t i = 0; i < verified->indices.size(); ++i) {
    if (!results->finalists[i]) continue;
    const Evaluation& evaluation = *results->finalists[i];
    const store::CandidateKey& key = verified->finalists[i].candidate.key;
    BenchedKernel& kernel = times.kernels[verified->indices[i]];
    if (is_right(evaluation) && evaluation.measurement) {
      kernel.time =
          to_side(*evaluation.measurement, key.strategy + " " + key.config, evaluation.sustained);
    } else {
      kernel.why_not = failure_of(evaluation);
    }
  }
  return times;
}

}  // namespace gemmtune::tuner
