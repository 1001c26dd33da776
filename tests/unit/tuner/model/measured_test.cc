// How the model orders candidates that were measured on an H200: test data, of short series of
// searches with each problem's fastest candidate in it. Lines are problem, strategy, microseconds,
// config.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/strategy.h"
#include "tuner/model/model_judgement.h"
#include "tuner/model/performance_model.h"

namespace gemmtune::tuner {
namespace {

using OfProblem = std::map<std::string, std::vector<JudgedCandidate>>;

// By strategy.
std::map<std::string, OfProblem> read_measured() {
  std::ifstream in(GEMMTUNE_MEASURED);
  REQUIRE(in);
  const DeviceSpec& device = *find_device_spec("h200");
  std::map<std::string, OfProblem> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string problem_key, name, us, config;
    std::getline(fields, problem_key, '\t');
    std::getline(fields, name, '\t');
    std::getline(fields, us, '\t');
    std::getline(fields, config);
    CAPTURE(line);
    const auto problem = parse_key(problem_key);
    const auto tile = parse_tile(config);
    const auto strategy = codegen::find_strategy(name);
    REQUIRE((problem && tile && strategy));
    const codegen::KernelSpec spec =
        codegen::spec_for(**strategy, *tile, *problem, Arch{9, 0, true});
    const Prediction out =
        predict(spec, spec.strategy->estimated_registers(spec), *problem, device);
    all[name][problem_key].push_back({out.total_us, std::stod(us)});
  }
  return all;
}

ModelJudgement judgement_of(const OfProblem& problems) {
  ModelJudge judge;
  for (const auto& [key, candidates] : problems) judge.add(candidates);
  return judge.judgement();
}

TEST_CASE("what the model likes best is near the best that was measured") {
  const auto measured = read_measured();
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
