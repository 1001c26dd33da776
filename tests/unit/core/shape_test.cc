#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/names.h"
#include "core/problem.h"

namespace gemmtune {
namespace {

// What parse_shape accepts, said another way: digits x digits x digits, each 1..kMaxDimension.
std::optional<Shape> naive_parse(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == 'x') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  if (parts.size() != 3) return std::nullopt;
  int64_t values[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (parts[i].empty()) return std::nullopt;
    for (const char letter : parts[i]) {
      if (letter < '0' || letter > '9') return std::nullopt;
      values[i] = std::min<int64_t>(values[i] * 10 + (letter - '0'), int64_t{1} << 40);
    }
    if (values[i] < 1 || values[i] > kMaxDimension) return std::nullopt;
  }
  return Shape{values[0], values[1], values[2]};
}

void check_against_naive(const std::string& text) {
  const auto parsed = parse_shape(text);
  const auto expected = naive_parse(text);
  CAPTURE(text);
  REQUIRE(parsed.has_value() == expected.has_value());
  if (parsed) {
    REQUIRE(*parsed == *expected);
  } else {
    REQUIRE(parsed.error().kind == ErrorKind::usage);
    REQUIRE(parsed.error().message.find(in_quotes(text)) != std::string::npos);
  }
}

TEST_CASE("parse_shape: all strings of up to seven letters from '0', '1', 'x', '-'") {
  std::vector<std::string> strings = {""};
  size_t begin = 0;
  for (int length = 0; length < 7; ++length) {
    const size_t end = strings.size();
    for (; begin < end; ++begin) {
      for (const char letter : {'0', '1', 'x', '-'}) strings.push_back(strings[begin] + letter);
    }
  }
  for (const auto& text : strings) check_against_naive(text);
}

TEST_CASE("parse_shape: random edits of good shapes") {
  std::mt19937 random(1);
  const std::string letters = "0123456789xX+-. e\t\n,";
  for (int i = 0; i < 20000; ++i) {
    std::string text = to_string(Shape{1 + static_cast<int64_t>(random() % 3000000000U),
                                       1 + static_cast<int64_t>(random() % 5000),
                                       1 + static_cast<int64_t>(random() % 20)});
    check_against_naive(text);
    text[random() % text.size()] = letters[random() % letters.size()];
    check_against_naive(text);
    text.insert(random() % (text.size() + 1), 1, letters[random() % letters.size()]);
    check_against_naive(text);
  }
}

TEST_CASE("parse_shape: the message points at the part that is wrong") {
  const std::pair<const char*, const char*> kBad[] = {
      {"5120x5120", "needs three sizes"},
      {"4x4x4x4", "needs three sizes"},
      {"5120", "needs three sizes"},
      {"", "needs three sizes"},
      {"0x4x4", "m is '0', it must be at least 1"},
      {"-1x4x4", "m is '-1', it must be at least 1"},
      {"4x-1x4", "n is '-1'"},
      {"1e3x4x4", "m is '1e3', a whole number in plain digits"},
      {"4x4x1.5", "k is '1.5', a whole number in plain digits"},
      {"4x4x", "k is '', a whole number is needed"},
      {"x4x4", "m is ''"},
      {"4x4x4 ", "k is '4 '"},
      {" 4x4x4", "m is ' 4'"},
      {"+4x4x4", "m is '+4'"},
      {"4X4X4", "needs three sizes"},
      {"99999999999x1x1", "m is '99999999999', the largest is 2146435071"},
      {"1x1x99999999999999999999999", "k is '99999999999999999999999', the largest is"},
      {"2146435072x1x1", "the largest is"}};
  for (const auto& [text, part] : kBad) {
    const auto shape = parse_shape(text);
    REQUIRE_FALSE(shape);
    CHECK_MESSAGE(shape.error().message.find(part) != std::string::npos, shape.error().message);
    CHECK(shape.error().message.find('\n') == std::string::npos);
  }
  CHECK(parse_shape("5120x5120x4096") == Shape{5120, 5120, 4096});
  CHECK(parse_shape("007x1x1") == Shape{7, 1, 1});
  CHECK(parse_shape("2146435071x1x1")->m == kMaxDimension);
}

}  // namespace
}  // namespace gemmtune
