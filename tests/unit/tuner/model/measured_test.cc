// How the model orders candidates that were measured: each problem's fastest is among them.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "measured_kernels.h"
#include "tuner/model/model_judgement.h"
#include "tuner/model/performance_model.h"

namespace gemmtune::tuner {
namespace {

using OfProblem = std::map<std::string, std::vector<JudgedCandidate>>;

// By strategy.
std::map<std::string, OfProblem> judged() {
  const DeviceSpec& device = *find_device_spec("h200");
  std::map<std::string, OfProblem> all;
  for (const MeasuredKernel& kernel : read_measured(GEMMTUNE_MEASURED)) {
    const codegen::Strategy& strategy = *kernel.spec.strategy;
    const Prediction out =
        predict(kernel.spec, strategy.estimated_registers(kernel.spec), kernel.problem, device);
    all[std::string(strategy.name())][key(kernel.problem)].push_back({out.total_us, kernel.us});
  }
  return all;
}

ModelJudgement judgement_of(const OfProblem& problems) {
  ModelJudge judge;
  for (const auto& [key, candidates] : problems) judge.add(candidates);
  return judge.judgement();
}

TEST_CASE("what the model likes best is near the best that was measured") {
  const auto measured = judged();
  struct Expected {
    std::string strategy;
    size_t problems, top_near;
    double correlation;
  };
  const std::vector<Expected> all = {{"multistage", 3, 3, 0.45},
                                     {"sliced_k", 3, 3, 0.5},
                                     {"wgmma_tma", 3, 3, 0.8},
                                     {"wgmma_split_k", 2, 2, 0.7}};
  REQUIRE(measured.size() == all.size());
  for (const Expected& expected : all) {
    CAPTURE(expected.strategy);
    const ModelJudgement found = judgement_of(measured.at(expected.strategy));
    CHECK(found.ranked == expected.problems);
    CHECK(found.top_near >= expected.top_near);
    CHECK(found.rank_correlation > expected.correlation);
    CHECK(found.spread < 1.35);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
