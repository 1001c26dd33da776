#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
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

// For to_text(): without line breaks.
inline constexpr int kOneLine = -1;

// JSON as lines, each level `indent` blanks deeper, or as one that does not end. Texts in it may be
// any bytes (paths, names of programs, a compiler's messages): what is no UTF-8 becomes U+FFFD.
std::string to_text(const nlohmann::json& json, int indent);
std::string to_text(const nlohmann::ordered_json& json, int indent);

// null for nothing.
template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace gemmtune
