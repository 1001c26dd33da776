#pragma once

#include <string>

#include "app/tune/tune.h"

namespace gemmtune::cli {

// One problem's results: table, baseline, counts.
std::string tune_text(const app::TunedProblem& tuned);

}  // namespace gemmtune::cli
