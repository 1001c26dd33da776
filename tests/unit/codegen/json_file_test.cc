#include "codegen/json_file.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace gemmtune::codegen {
namespace {

std::string json_error(const std::string& text) {
  const auto document = parse_json(text, "a.json");
  REQUIRE_FALSE(document);
  CHECK(document.error().kind == ErrorKind::usage);
  return document.error().message;
}

}  // namespace

TEST_CASE("JSON: what is wrong, and where") {
  CHECK(json_error("") == "a.json is empty");
  CHECK(json_error(" \n\t") == "a.json is empty");
  CHECK(json_error("{") ==
        "a.json:1:1: the file ends here, and a bracket, brace or quote is still open");
  CHECK(json_error("{\n  \"m\": [1,\n 2\n") ==
        "a.json:3:2: the file ends here, and a bracket, brace or quote is still open");
  CHECK(json_error("{\"m\": 1,\n \"n\" 2}") == "a.json:2:6: '2' is not expected here");
  CHECK(json_error("{\"m\": 1,\n}") == "a.json:2:1: a comma stands before the closing '}'");
  CHECK(json_error("[1, 2,]") == "a.json:1:7: a comma stands before the closing ']'");
  CHECK(json_error("[\n\n  tru]") == "a.json:3:3: 'tru' is not expected here");
  CHECK(json_error("{\"m\" 12, \"n\": 3}") == "a.json:1:6: '12' is not expected here");
  CHECK(json_error("[1] // ones") == "a.json:1:5: JSON has no comments");
  CHECK(json_error("{'m': 1}") == "a.json:1:2: texts stand in double quotes");
  CHECK(json_error("{\"m: 1,\n\"n\": 2}") ==
        "a.json:1:8: a text is not closed by a quote in its line");
  CHECK(json_error("[\"a\x01\"]") == "a.json:1:4: a text holds a control character as it is");
  CHECK(json_error("[\"a\xff\"]") == "a.json:1:4: this is not UTF-8, or stands outside of a text");
  CHECK(json_error("[1, 2}") == "a.json:1:6: '}' is not expected here");
  CHECK(json_error("[1]]") == "a.json:1:4: ']' is not expected here");
  CHECK(json_error("{\"a\": 1 \"b\": 2}") == "a.json:1:9: '\"b\"' is not expected here");
}

TEST_CASE("JSON: any damage is one line of our own words, with a place") {
  const std::string good = "{\"suite\": \"s\",\n \"list\": [1, 2.5, null, true, \"x\\n\"]}\n";
  REQUIRE(parse_json(good, "a.json"));
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    const size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text.erase(at, 1 + random() % 40);
    } else {
      text[at] = static_cast<char>(random() % 256);
    }
    CAPTURE(text);
    const auto document = parse_json(text, "a.json");
    if (document) continue;
    const std::string& message = document.error().message;
    CAPTURE(message);
    CHECK(message.starts_with("a.json"));
    CHECK(message.size() < 200);
    for (const char* part : {"parse", "json.exception", "last read", "syntax", "\n", "\x1b"})
      CHECK(message.find(part) == std::string::npos);
  }
}

TEST_CASE("JSON: a key that stands twice is a slip, whatever it holds") {
  CHECK(json_error("{\"m\": [1], \"n\": {}, \"m\": [2]}") ==
        "a.json: the key \"m\" stands twice in one object");
  CHECK(parse_json("[{\"m\": 1}, {\"m\": {\"m\": 2}}]", "a.json"));
}

TEST_CASE("files that cannot be read") {
  for (const char* path : {"/nonexistent/a.json", "/"}) {
    const auto text = read_text_file(path, "suite file");
    REQUIRE_FALSE(text);
    CHECK(text.error().kind == ErrorKind::usage);
    CHECK(text.error().message.starts_with("cannot read suite file '/"));
  }
  CHECK(read_text_file("/dev/null", "suite file")->empty());
}

}  // namespace gemmtune::codegen
