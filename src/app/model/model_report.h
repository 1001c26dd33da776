#pragma once

#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/filter.h"
#include "core/error.h"
#include "tuner/model/model_judgement.h"

namespace gemmtune::app {

// How well the performance model predicts what the database holds measurements of.
struct ModelReport {
  struct OfStrategy {
    std::string strategy;
    tuner::ModelJudgement model;       // by itself
    tuner::ModelJudgement calibrated;  // as searches use it
  };
  std::vector<OfStrategy> strategies;  // by name
};

// Of measured candidates of the kind that `filter` asks for, by the series of searches where there
// are such: final rounds run at other clocks. Candidates that this program cannot generate any more
// are left out.
Expected<ModelReport> model_report(const Context& context, const FilterOptions& filter);

std::string model_report_json(const ModelReport& report);

}  // namespace gemmtune::app
