#include "app/common/problems.h"

#include <doctest/doctest.h>

#include <random>

namespace gemmtune::app {

TEST_CASE("ranges hold the start, the steps, and the end if a step meets it") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> size(1, 300);
  for (int i = 0; i < 2000; ++i) {
    const int64_t start = size(random);
    const int64_t end = start + size(random) - 1;
    const int64_t step = size(random);
    const std::string text =
        std::to_string(start) + ":" + std::to_string(end) + ":" + std::to_string(step);
    CAPTURE(text);
    const auto values = parse_range(text, "--m");
    REQUIRE(values);
    REQUIRE(!values->empty());
    CHECK(values->front() == start);
    CHECK(values->back() <= end);
    CHECK(values->back() + step > end);
    for (size_t j = 1; j < values->size(); ++j) CHECK((*values)[j] - (*values)[j - 1] == step);
  }
  CHECK(*parse_range("5", "--m") == std::vector<int64_t>{5});
  CHECK(*parse_range("5:7", "--m") == std::vector<int64_t>{5, 6, 7});
}

TEST_CASE("bad ranges name the flag") {
  for (const char* text :
       {"", ":", "1:", ":1", "a", "1:b", "0", "-1", "2:1", "1:2:0", "1:2:3:4", "1.5", " 1", "1 ",
        "99999999999999999999", "2147483647", "1:2000000000"}) {
    CAPTURE(text);
    const auto values = parse_range(text, "--k");
    REQUIRE_FALSE(values);
    CHECK(values.error().kind == ErrorKind::usage);
    CHECK(values.error().message.find("--k") != std::string::npos);
    CHECK(values.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("shapes and ranges add up, with the same kind") {
  ProblemOptions options;
  options.shapes = {"1x2x3", "4x5x6"};
  options.m = "8:16:8";
  options.n = "32";
  options.k = "1:3";
  options.layout = "tnt";
  options.batch = 2;
  const auto problems = parse_problems(options);
  REQUIRE(problems);
  REQUIRE(problems->size() == 8);
  CHECK((*problems)[0].problem.shape == Shape{1, 2, 3});
  CHECK((*problems)[2].problem.shape == Shape{8, 32, 1});
  CHECK((*problems)[7].problem.shape == Shape{16, 32, 3});
  for (const WantedProblem& wanted : *problems) {
    CHECK(to_string(wanted.problem.layout) == "tnt");
    CHECK(wanted.problem.batch == 2);
    CHECK(wanted.problem.stride_c > 0);
    CHECK(validate(wanted.problem));
    CHECK(wanted.text == key(wanted.problem));
  }
}

TEST_CASE("the epilogue and the type of C") {
  ProblemOptions options;
  options.shapes = {"8x16x32"};
  options.type = "bf16";
  options.epilogue = "bias,gelu";
  options.result = "f32";
  const auto problem = parse_problem(options);
  REQUIRE(problem);
  CHECK(problem->epilogue == Epilogue{kBiasPerColumn, kGeluTanh});
  CHECK(problem->result == DataType::f32);
  CHECK(key(*problem) == "bf16/f32/ieee/ttt/8x16x32/out=f32/epilogue=bias,gelu");
  options.result = "bf16";
  CHECK_FALSE(parse_problem(options)->result);

  const auto refused = [&options] {
    const auto wrong = parse_problem(options);
    if (wrong) return std::string("accepted");
    CHECK(wrong.error().kind == ErrorKind::usage);
    return wrong.error().message;
  };
  options.result = "f16";
  CHECK(refused().find("results of type f16 do not go with type bf16") != std::string::npos);
  options.result = "f33";
  CHECK(refused().find("f33") != std::string::npos);
  options.result = "f32";
  options.align_bytes = 2;
  CHECK(refused().find("alignment is 2") != std::string::npos);
  options.align_bytes = 4;
  CHECK(parse_problem(options));
  options.epilogue = "gelo";
  CHECK(refused().find("did you mean 'gelu'?") != std::string::npos);
  options.epilogue = "gelu,bias";
  CHECK(refused().find("before the activation") != std::string::npos);
}

TEST_CASE("f32 products of suites are in the split mode that is asked for") {
  ProblemOptions options;
  options.suites = {GEMMTUNE_SOURCE_DIR "/configs/suites/programs.json"};
  const auto plain = parse_problems(options);
  REQUIRE(plain);
  options.f32 = "3xtf32";
  const auto split = parse_problems(options);
  REQUIRE(split);
  REQUIRE(split->size() == plain->size());
  int changed = 0;
  for (size_t i = 0; i < plain->size(); ++i) {
    const WantedProblem& before = (*plain)[i];
    const WantedProblem& after = (*split)[i];
    Problem wanted = before.problem;
    const bool is_f32 = wanted.type == DataType::f32;
    if (is_f32) wanted.math = MathMode::tf32x3;
    CHECK(after.problem == wanted);
    CHECK(after.text == key(wanted));
    CHECK(after.group == before.group + (is_f32 ? " by 3xtf32" : ""));
    changed += is_f32;
  }
  CHECK(changed == 5);
  options.f32 = "tf32";
  const auto refused = parse_problems(options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("--f32: unknown split mode 'tf32'"));
}

TEST_CASE("options that would be ignored are refused") {
  const auto message = [](const ProblemOptions& options) {
    const auto problems = parse_problems(options);
    return problems ? "" : problems.error().message;
  };
  // Shapes say their mode themselves.
  ProblemOptions shape;
  shape.shapes = {"8x8x8"};
  shape.f32 = "3xtf32";
  CHECK(message(shape) == "--f32 is for --suite; with --shape say --math 3xtf32");
  ProblemOptions suite;
  suite.suites = {GEMMTUNE_SOURCE_DIR "/configs/suites/programs.json"};
  suite.type = "bf16";
  CHECK(message(suite) == "--type, --layout and the like are for --shape; a suite has its own");
  suite.shapes = {"8x8x8"};
  CHECK(message(suite).empty());
}

TEST_CASE("one problem means one") {
  ProblemOptions options;
  options.shapes = {"1x2x3"};
  CHECK(parse_problem(options));
  options.shapes.emplace_back("1x2x4");
  CHECK_FALSE(parse_problem(options));
}

}  // namespace gemmtune::app
