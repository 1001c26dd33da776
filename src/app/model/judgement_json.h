#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/model/model_judgement.h"

namespace gemmtune::app {

// problems, candidates, predicted_over_measured, spread, ranked, rank_correlation, top_near,
// first_near.
nlohmann::ordered_json judgement_json(const tuner::ModelJudgement& judgement);

}  // namespace gemmtune::app
