#include "cli/common/advice.h"
#include "app/common/next_step.h"
#include "app/common/problems.h"
#include "cli/common/options.h"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <random>

#include "../../contains.h"

namespace gemmtune::cli {
namespace {

// The problem that a command with these options is about.
Expected<Problem> parsed(std::vector<std::string> arguments) {
  CLI::App app;
  app::ProblemOptions options;
  add_problem_options(app, options, false);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return app::parse_problem(options);
}

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return *(values.begin() + random() % values.size());
}

Problem random_problem(std::mt19937& random) {
  Problem problem;
  const auto size = [&] { return static_cast<int64_t>(1 + random() % 5000); };
  problem.shape = {size(), size(), size()};
  problem.type = one_of(random, {DataType::f32, DataType::f16, DataType::bf16});
  problem.accumulator = problem.type == DataType::f16
                            ? one_of(random, {DataType::f32, DataType::f16})
                            : DataType::f32;
  if (problem.type == DataType::f32) {
    problem.math =
        one_of(random, {MathMode::ieee, MathMode::tf32, MathMode::tf32x3, MathMode::f16});
  }
  const auto order = [&] { return one_of(random, {Order::row_major, Order::column_major}); };
  problem.layout = {order(), order(), order()};
  for (int64_t* ld : {&problem.lda, &problem.ldb, &problem.ldc}) {
    if (random() % 4 == 0) *ld = 5000 + size();
  }
  problem.batch = one_of<int64_t>(random, {1, 1, 3});
  problem.align_bytes = one_of(random, {Problem{}.align_bytes, 4, 8, 16, 256});
  if (problem.type != DataType::f32 && random() % 3 == 0) problem.result = DataType::f32;
  if (random() % 2 == 0) {
    problem.epilogue = {one_of(random, {kNoBias, kBiasPerColumn, kBiasPerRow}),
                        one_of(random, {kNoActivation, kRelu, kGeluTanh, kGeluErf, kSilu})};
  }
  pack(problem);
  return problem;
}

}  // namespace

TEST_CASE("the options that spell a problem give the same problem") {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const Problem problem = random_problem(random);
    const std::string wanted = key(problem);
    CAPTURE(wanted);
    const auto found = parsed(problem_arguments(problem));
    REQUIRE_MESSAGE(found, found.error().message);
    CHECK(*found == problem);
  }
}

TEST_CASE("what is assumed anyway is not spelled") {
  const Problem problem = make_problem({1, 2, 3});
  CHECK(problem_arguments(problem) == std::vector<std::string>{"--shape", "1x2x3"});
}

TEST_CASE("a step as a command has the problem, the target and the database") {
  const app::TuneStep step{make_problem({1, 2, 3}, DataType::bf16, *parse_layout("tnt")), "sm_90",
                           "mma_multistage", true};
  CHECK(command_of(step, "my results.db") ==
        "gemm-tune tune --shape 1x2x3 --type bf16 --layout tnt --arch sm_90 --strategy "
        "mma_multistage --warm --db 'my results.db'");
  CHECK(command_of(app::TuneStep{make_problem({1, 2, 3}), "", "", false}, "") ==
        "gemm-tune tune --shape 1x2x3");
  CHECK(command_of(app::ListStep{}, "a.db") == "gemm-tune list --db a.db");
}

TEST_CASE("words for a shell") {
  CHECK(shell_word("a/b-c_1.db") == "a/b-c_1.db");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
}

}  // namespace gemmtune::cli
