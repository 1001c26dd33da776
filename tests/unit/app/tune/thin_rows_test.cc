#include "app/tune/thin_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gemmtune::app {
namespace {

using Rows = std::vector<int64_t>;

WantedProblem wanted_rows(int64_t m, int64_t n = 512, const char* layout = "ttt") {
  WantedProblem wanted;
  wanted.problem = make_problem({m, n, 512}, DataType::bf16, *parse_layout(layout));
  return wanted;
}

Rows thinned(const Rows& rows) {
  std::vector<WantedProblem> wanted;
  for (const int64_t m : rows) wanted.push_back(wanted_rows(m));
  const size_t left_out = thin_rows(wanted);
  CHECK(left_out + wanted.size() == rows.size());
  Rows left;
  for (const WantedProblem& one : wanted) left.push_back(one.problem.shape.m);
  return left;
}

Rows from_to(int64_t first, int64_t last) {
  Rows rows;
  for (int64_t m = first; m <= last; ++m) rows.push_back(m);
  return rows;
}

TEST_CASE("of many numbers of rows some stay, in their order") {
  CHECK(thinned(from_to(1, 128)) == Rows{1, 6, 14, 22, 30, 40, 54, 72, 96, 128});
  CHECK(thinned({128, 1, 64, 127}) == Rows{128, 1, 64});
  CHECK(thinned({1, 8, 16, 32, 64, 128}) == Rows{1, 8, 16, 32, 64, 128});
  CHECK(thinned({3, 4}) == Rows{3, 4});
  CHECK(thinned({3, 4, 5}) == Rows{3, 5});
  CHECK(thinned({5}) == Rows{5});
  CHECK(thinned({}).empty());
}

TEST_CASE("what was asked for twice stays twice, or goes twice") {
  CHECK(thinned({1, 7, 7, 8, 8}) == Rows{1, 8, 8});
}

TEST_CASE("more rows than that all stay") {
  Rows rows = from_to(120, 140);
  CHECK(thinned(rows) ==
        Rows{120, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140});
}

TEST_CASE("families are thinned apart, and those that are no family not at all") {
  std::vector<WantedProblem> wanted;
  for (const int64_t m : {1, 2, 3}) {
    wanted.push_back(wanted_rows(m));
    wanted.push_back(wanted_rows(m + 10, 256));
    wanted.push_back(wanted_rows(m, 512, "ntt"));  // its leading dimension is its rows
    wanted.push_back(wanted_rows(m));
    wanted.back().unsupported = "by nothing";
  }
  CHECK(thin_rows(wanted) == 2);
  const auto has = [&](int64_t m, int64_t n) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const WantedProblem& one) {
      return one.unsupported.empty() && one.problem.layout.a == Order::row_major &&
             one.problem.shape.m == m && one.problem.shape.n == n;
    });
  };
  CHECK(has(1, 512));
  CHECK_FALSE(has(2, 512));
  CHECK(has(3, 512));
  CHECK(has(11, 256));
  CHECK_FALSE(has(12, 256));
  CHECK(has(13, 256));
}

TEST_CASE("entries of a batch are families, too") {
  std::vector<WantedProblem> wanted;
  for (const int64_t m : {1, 2, 3}) {
    wanted.push_back(wanted_rows(m));
    wanted.back().problem.batch = 4;
    pack(wanted.back().problem);
  }
  CHECK(thin_rows(wanted) == 1);
}

TEST_CASE("whatever goes lies between two that stay, not far apart") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Rows rows;
    for (int i = 0; i < 30; ++i) rows.push_back(1 + random() % 150);
    const Rows left = thinned(rows);
    for (const int64_t m : rows) {
      if (std::find(left.begin(), left.end(), m) != left.end()) continue;
      int64_t below = 0;
      int64_t above = 1000;
      for (const int64_t kept : left) {
        if (kept < m) below = std::max(below, kept);
        if (kept > m) above = std::min(above, kept);
      }
      CHECK(below >= 1);
      CHECK(above <= kMostThinnedRows);
      CHECK(above - m < std::max<int64_t>((above + 3) / 4, 8));
    }
  }
}

}  // namespace
}  // namespace gemmtune::app
