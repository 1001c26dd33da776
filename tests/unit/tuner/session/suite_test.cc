#include "tuner/session/suite.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <random>

namespace gemmtune::tuner {

TEST_CASE("every suite of the project parses") {
  size_t suites = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(GEMMTUNE_SOURCE_DIR "/configs/suites")) {
    CAPTURE(entry.path().string());
    const auto suite = load_suite(entry.path().string());
    if (!suite) MESSAGE(suite.error().message);
    REQUIRE(suite);
    ++suites;
    CHECK(suite->name == entry.path().stem().string());
    CHECK(!suite->about.empty());
    for (const SuiteEntry& problem : suite->entries) {
      CHECK(!problem.group.empty());
      if (problem.unsupported.empty()) CHECK(validate(problem.problem));
    }
  }
  CHECK(suites >= 7);
}

TEST_CASE("an entry's fields reach the problem") {
  const auto suite = parse_suite(R"({"suite": "s", "problems": [
    {"m": 3, "n": 4, "k": 5, "dtype": "f16", "acc": "f16", "layout": "ntt", "lda": 7, "batch": 2,
     "align": 2, "group": "mine"}, {"m": 1, "n": 1, "k": 1, "math": "tf32"}]})",
                                 "s.json");
  REQUIRE(suite);
  const Problem& problem = suite->entries[0].problem;
  CHECK(problem.shape == Shape{3, 4, 5});
  CHECK(problem.type == DataType::f16);
  CHECK(problem.accumulator == DataType::f16);
  CHECK(to_string(problem.layout) == "ntt");
  CHECK(problem.lda == 7);
  CHECK(problem.ldb == 4);
  CHECK(problem.batch == 2);
  CHECK(problem.stride_a == 35);
  CHECK(problem.align_bytes == 2);
  CHECK(suite->entries[0].group == "mine");
  CHECK(suite->entries[1].group == "s f32 tf32");
  CHECK(suite->entries[1].problem.math == MathMode::tf32);
}

TEST_CASE("how often a problem is called, and what is done to its C") {
  const auto suite = parse_suite(R"({"suite": "s", "problems": [
    {"m": 3, "n": 4, "k": 5},
    {"m": 3, "n": 4, "k": 5, "count": 12, "epilogue": "none"},
    {"m": 3, "n": 4, "k": 5, "count": 48, "epilogue": "bias"},
    {"m": 3, "n": 4, "k": 5, "dtype": "bf16", "out": "f32", "epilogue": "bias_row,gelu"},
    {"m": 3, "n": 4, "k": 5, "dtype": "f64", "out": "f32", "epilogue": "relu"},
    {"m": 3, "n": 4, "k": 5, "dtype": "i8", "layout": "tnt"},
    {"m": 3, "n": 4, "k": 5, "dtype": "e4m3", "layout": "tnt", "math": "fast_accum"}]})",
                                 "s.json");
  REQUIRE(suite);
  CHECK(suite->entries[0].count == 1);
  CHECK(suite->entries[1].count == 12);
  CHECK(suite->entries[1].unsupported.empty());
  CHECK(suite->entries[2].count == 48);
  CHECK(suite->entries[1].problem.epilogue == Epilogue{});
  CHECK(suite->entries[2].unsupported.empty());
  CHECK(suite->entries[2].text == "f32 ttt 3x4x5 bias");
  CHECK(key(suite->entries[2].problem) == "f32/f32/ieee/ttt/3x4x5/epilogue=bias");
  CHECK_FALSE(suite->entries[2].problem.result);
  CHECK(key(suite->entries[3].problem) == "bf16/f32/ieee/ttt/3x4x5/out=f32/epilogue=bias_row,gelu");
  CHECK(suite->entries[4].unsupported == "type f64 is not supported yet");
  CHECK(key(suite->entries[5].problem) == "i8/i32/ieee/tnt/3x4x5");
  CHECK(key(suite->entries[6].problem) == "e4m3/f32/fast_accum/tnt/3x4x5");
}

TEST_CASE("a bad count or epilogue is refused, with its place") {
  const auto refused = [](const char* extra) {
    const auto suite = parse_suite(
        fmt::format(
            R"({{"problems": [{{"m": 1, "n": 1, "k": 1}}, {{"m": 1, "n": 1, "k": 1, {}}}]}})",
            extra),
        "s.json");
    if (suite) return std::string("accepted");
    CHECK(suite.error().kind == ErrorKind::usage);
    CHECK(suite.error().message.find("s.json: problems[1]: ") != std::string::npos);
    return suite.error().message;
  };
  for (const char* bad : {R"("count": 0)", R"("count": -1)", R"("count": 1.5)", R"("count": "2")",
                          R"("count": 9000000000000000000)"}) {
    CHECK(refused(bad).find("\"count\"") != std::string::npos);
  }
  CHECK(refused(R"("epilogue": 1)").find("\"epilogue\"") != std::string::npos);
  CHECK(refused(R"("epilogue": "biass")").find("did you mean 'bias'?") != std::string::npos);
  CHECK(refused(R"("epilogue": "relu,bias")").find("before the activation") != std::string::npos);
  CHECK(refused(R"("out": "f33")").find("f33") != std::string::npos);
  CHECK(refused(R"("out": 1)").find("\"out\"") != std::string::npos);
  CHECK(refused(R"("out": "f16")").find("results of type f16") != std::string::npos);
  CHECK(refused(R"("count": 1, "Count": 1)").find("unknown key 'Count'") != std::string::npos);
}

TEST_CASE("the traced programs: calls of a step, some with a bias") {
  const auto suite = load_suite(GEMMTUNE_SOURCE_DIR "/configs/suites/programs.json");
  REQUIRE(suite);
  int64_t calls = 0;
  int biased = 0;
  for (const SuiteEntry& entry : suite->entries) {
    calls += entry.count;
    CHECK(entry.unsupported.empty());
    biased += entry.problem.epilogue.bias == kBiasPerColumn ? 1 : 0;
  }
  CHECK(calls == 229);
  CHECK(biased == 12);
}

TEST_CASE("errors name the file and the entry, whatever the text") {
  const std::string good = R"({"suite":"s","problems":[{"m":2,"n":3,"k":4,"dtype":"f32"}]})";
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    const size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text.erase(at, 1 + random() % 3);
    } else {
      text[at] = static_cast<char>(random() % 128);
    }
    CAPTURE(text);
    const auto suite = parse_suite(text, "s.json");
    if (suite) continue;
    CHECK(suite.error().kind == ErrorKind::usage);
    CHECK(suite.error().message.find("s.json") != std::string::npos);
    CHECK(suite.error().message.find('\n') == std::string::npos);
  }
}

}  // namespace gemmtune::tuner
