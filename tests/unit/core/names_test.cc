#include "core/names.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/arch.h"
#include "core/layout.h"
#include "core/types.h"

namespace gemmtune {
namespace {

// Every string over `letters` of at most `length` letters.
std::vector<std::string> all_strings(const std::string& letters, size_t length) {
  std::vector<std::string> strings = {""};
  size_t begin = 0;
  for (size_t n = 0; n < length; ++n) {
    const size_t end = strings.size();
    for (; begin < end; ++begin) {
      for (const char letter : letters) strings.push_back(strings[begin] + letter);
    }
  }
  return strings;
}

int naive_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(std::max(a.size(), b.size()));
  const int substitute = a.back() == b.back() ? 0 : 1;
  const std::string_view shorter_a = a.substr(0, a.size() - 1);
  const std::string_view shorter_b = b.substr(0, b.size() - 1);
  return std::min({naive_distance(shorter_a, b) + 1, naive_distance(a, shorter_b) + 1,
                   naive_distance(shorter_a, shorter_b) + substitute});
}

TEST_CASE("edit_distance agrees with its definition on all short strings") {
  const auto strings = all_strings("ab", 4);
  for (const auto& a : strings) {
    for (const auto& b : strings) {
      REQUIRE(edit_distance(a, b) == naive_distance(a, b));
    }
  }
}

TEST_CASE("unknown_name_message lists the nearest first and suggests only what is near") {
  const std::string_view valid[] = {"split_k", "double_buffer", "stream_k"};
  CHECK(unknown_name_message("strategy", "stream-k", valid) ==
        "unknown strategy 'stream-k'; did you mean 'stream_k'? valid: stream_k, split_k, "
        "double_buffer");
  CHECK(unknown_name_message("strategy", "something", valid).find("did you mean") ==
        std::string::npos);
  CHECK(unknown_name_message("strategy", "x", {}) == "unknown strategy 'x'; valid: ");
  CHECK(join(valid) == "split_k, double_buffer, stream_k");
  CHECK(join({}) == "");
}

TEST_CASE("in_quotes: one line, whatever the text") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("a b\xC3\xA9") == "'a b\xC3\xA9'");
  CHECK(in_quotes("a\nb\t\x7f") == "'a\\x0ab\\x09\\x7f'");
  CHECK(in_quotes("\xC2\x9B") == "'\\xc2\\x9b'");  // a terminal's escape in one character
  CHECK(has_control_characters("\xC2\x9B"));
  CHECK(has_control_characters("a\n"));
  CHECK_FALSE(has_control_characters("a b\xC3\xA9\xC2\xA0"));
  CHECK(unknown_name_message("type", "f\n32", {}) == "unknown type 'f\\x0a32'; valid: ");
}

TEST_CASE("arch: names round-trip, everything else is refused") {
  std::set<std::string> names;
  for (const Arch arch : known_archs()) {
    CHECK(parse_arch(to_string(arch)) == arch);
    names.insert(to_string(arch));
  }
  CHECK(names == std::set<std::string>{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"});
  for (const char* bad : {"", "80", "sm80", "SM_80", "sm_80a", "sm_8", "sm_800", " sm_80", "sm_80 ",
                          "sm_-80", "sm_90b", "sm_90aa"}) {
    const auto arch = parse_arch(bad);
    REQUIRE_FALSE(arch);
    CHECK(arch.error().kind == ErrorKind::usage);
    for (const auto& name : names) CHECK(arch.error().message.find(name) != std::string::npos);
  }
  CHECK(parse_arch("sm_91").error().message.find("did you mean 'sm_90'") != std::string::npos);
}

TEST_CASE("runs_on: the same major, no older minor, specific code nowhere else") {
  for (int code = 70; code < 130; ++code) {
    for (int device = 70; device < 130; ++device) {
      const Arch on{device / 10, device % 10, false};
      const bool same_major = code / 10 == device / 10;
      CHECK(runs_on({code / 10, code % 10, false}, on) == (same_major && code <= device));
      CHECK(runs_on({code / 10, code % 10, true}, on) == (code == device));
    }
  }
}

TEST_CASE("layout: exactly the eight triples of t and n") {
  std::set<std::string> accepted;
  for (const auto& text : all_strings("tnTx", 4)) {
    const auto layout = parse_layout(text);
    if (layout) {
      CHECK(to_string(*layout) == text);
      accepted.insert(text);
    } else {
      CHECK(layout.error().kind == ErrorKind::usage);
      CHECK(layout.error().message.find("'" + text + "'") != std::string::npos);
    }
  }
  CHECK(accepted == std::set<std::string>{"ttt", "ttn", "tnt", "tnn", "ntt", "ntn", "nnt", "nnn"});
  CHECK(parse_layout("txt").error().message.find("letter 2 ('x')") != std::string::npos);
  CHECK(parse_layout("tnt") == Layout{Order::row_major, Order::column_major, Order::row_major});
}

TEST_CASE("types: names round-trip, sizes are right") {
  std::set<std::string_view> names;
  for (const DataType type : all_data_types()) {
    CHECK(parse_data_type(to_string(type)) == type);
    names.insert(to_string(type));
  }
  CHECK(names == std::set<std::string_view>{"f32", "f16", "bf16", "e4m3", "e5m2", "i8", "i32"});
  CHECK(size_bytes(DataType::f32) == 4);
  CHECK(size_bytes(DataType::f16) == 2);
  CHECK(size_bytes(DataType::bf16) == 2);
  CHECK(size_bytes(DataType::e4m3) == 1);
  CHECK(size_bytes(DataType::e5m2) == 1);
  CHECK(size_bytes(DataType::i8) == 1);
  CHECK(size_bytes(DataType::i32) == 4);
  for (const MathMode math : {MathMode::ieee, MathMode::tf32, MathMode::tf32x3, MathMode::f16,
                              MathMode::bf16x6, MathMode::bf16x9, MathMode::fast_accum}) {
    CHECK(parse_math_mode(to_string(math)) == math);
  }
  CHECK(to_string(MathMode::tf32x3) == "3xtf32");
  for (const char* bad : {"", "F32", "float", "f32 ", "tf32"}) {
    CHECK_FALSE(parse_data_type(bad));
  }
  CHECK_FALSE(parse_math_mode("tf32x3"));
  CHECK(parse_data_type("fp16").error().message.find("did you mean 'f16'") != std::string::npos);
}

}  // namespace
}  // namespace gemmtune
