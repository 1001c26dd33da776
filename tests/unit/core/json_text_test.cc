#include "core/json_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace gemmtune {

TEST_CASE("JSON is lines, or one that does not end") {
  const nlohmann::ordered_json json = {{"b", 1}, {"a", nullptr}};
  CHECK(to_text(json, 2) == "{\n  \"b\": 1,\n  \"a\": null\n}\n");
  CHECK(to_text(json, kOneLine) == R"({"b":1,"a":null})");
  CHECK(to_text(nlohmann::json(json), kOneLine) == R"({"a":null,"b":1})");
}

TEST_CASE("a text that is no UTF-8 does not keep the rest from being written") {
  const nlohmann::ordered_json json = {{"path", "a\xff.db"}};
  CHECK(to_text(json, kOneLine) == "{\"path\":\"a\xef\xbf\xbd.db\"}");
}

TEST_CASE("nothing is null") {
  CHECK(or_null(std::optional<int>()).is_null());
  CHECK(or_null(std::optional(3)) == 3);
}

}  // namespace gemmtune
