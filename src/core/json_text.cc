#include "core/json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace gemmtune {
namespace {

template <class Json>
std::string with_replacements(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  return indent == kOneLine ? text : text + "\n";
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> open;
  const auto watch = [&open](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      throw RepeatedKey{"the key " + value.dump() + " stands twice in one object"};
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch);
}

std::string to_text(const nlohmann::json& json, int indent) {
  return with_replacements(json, indent);
}

std::string to_text(const nlohmann::ordered_json& json, int indent) {
  return with_replacements(json, indent);
}

}  // namespace gemmtune
