#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/tune/tune.h"

namespace gemmtune::cli {

// The first line of `tune`: whether anything is measured, and on what.
std::string target_line(const Target& target);

// The same as keys: arch, device, provenance, note.
nlohmann::ordered_json target_json(const Target& target);

// One problem's results: table, baseline, counts.
std::string tune_text(const TunedProblem& tuned);

// The whole command as one JSON object, ended by a newline.
std::string tune_json(const TuneSummary& summary);

}  // namespace gemmtune::cli
