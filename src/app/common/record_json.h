#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/json_text.h"
#include "core/problem.h"
#include "store/record.h"

// How values that many results hold look as JSON. docs/cli.md documents the keys.
namespace gemmtune::app {

nlohmann::ordered_json to_json(const Problem& problem);
// Without the samples; what throttled it by name.
nlohmann::ordered_json to_json(const store::Measurement& measurement);
nlohmann::ordered_json to_json(const store::Record& record);
nlohmann::ordered_json to_json(const std::optional<store::Record>& record);

}  // namespace gemmtune::app
