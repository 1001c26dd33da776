#include "tuner/suite.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "tuner/suite_bench.h"

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
      CHECK(problem.group.find(suite->name) == 0);
      if (problem.unsupported.empty()) CHECK(validate(problem.problem));
    }
  }
  CHECK(suites >= 6);
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

TEST_CASE("group means are geometric means of the compared rows") {
  std::vector<SuiteBenchRow> rows(4);
  const auto fill = [](SuiteBenchRow& row, const char* group, double own, double first,
                       double best) {
    row.entry.group = group;
    if (own > 0) row.own = BenchSide{own, own, own, ""};
    row.vendor_first = BenchSide{first, first, first, ""};
    row.vendor_best = BenchSide{best, best, best, ""};
  };
  fill(rows[0], "a", 10, 20, 10);
  fill(rows[1], "a", 10, 5, 2.5);
  fill(rows[2], "b", 0, 1, 1);
  fill(rows[3], "c", 4, 4, 2);
  const auto means = group_means(rows);
  REQUIRE(means.size() == 4);
  CHECK(means[0].group == "a");
  CHECK(means[0].compared == 2);
  CHECK(means[0].own_vs_first == doctest::Approx(1.0));
  CHECK(means[0].own_vs_best == doctest::Approx(0.5));
  CHECK(means[1].rows == 1);
  CHECK(means[1].compared == 0);
  CHECK(means[1].own_vs_best == 0);
  CHECK(means[3].group == "all");
  CHECK(means[3].compared == 3);
  CHECK(means[3].own_vs_best == doctest::Approx(0.5));
}

}  // namespace gemmtune::tuner
