#pragma once

#include <string>

#include "app/tune/tune.h"

namespace gemmtune::cli {

// One problem's results: table, baseline, counts.
std::string tune_text(const app::TunedProblem& tuned);

// "[3/24, 4 min left] ", in front of a problem's name; empty where there is only one.
std::string place_text(const app::TunePlace& place);

// All of a command's problems in one table, with what a step of their program takes; empty for one.
std::string tune_summary_text(const app::TuneSummary& summary);

// What all calls of the problems take, by cuBLASLt's best and first algorithms and by own kernels;
// empty where no problem has both times.
std::string step_line(const app::TuneSummary& summary);

// How many candidates a search looked at, and what became of them.
std::string counts_line(const tuner::TuneReport& report);

// What a command would tune, in its order.
std::string plan_text(const app::TunePlan& plan);

}  // namespace gemmtune::cli
