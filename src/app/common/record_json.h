#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/problem.h"
#include "store/record.h"

// How values that many results hold look as JSON. docs/cli.md documents the keys.
namespace gemmtune::app {

// null for nothing.
template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

nlohmann::ordered_json to_json(const Problem& problem);
// Without the samples; what throttled it by name.
nlohmann::ordered_json to_json(const store::Measurement& measurement);
nlohmann::ordered_json to_json(const store::Record& record);
nlohmann::ordered_json to_json(const std::optional<store::Record>& record);

}  // namespace gemmtune::app
