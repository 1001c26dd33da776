#include "core/json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace gemmtune {

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

}  // namespace gemmtune
