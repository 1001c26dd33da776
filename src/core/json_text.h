#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gemmtune {

// A key that stands twice in one object of a JSON text.
struct RepeatedKey {
  std::string message;
};

// Parses JSON. The library keeps the last of two equal keys, which would hide a slip or a forgery:
// throws RepeatedKey for that, and nlohmann::json::exception for what is no JSON.
nlohmann::json parse_json(std::string_view text);

}  // namespace gemmtune
