#include "app/tune/thin_rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "dispatch/request.h"
#include "dispatch/row_bounds.h"

namespace gemmtune::app {
namespace {

constexpr int64_t kLeastStep = 8;  // rows: of tensor cores' tiles

// As problems are compared; nothing for one that stays in any case.
std::optional<Problem> may_thin(const WantedProblem& wanted) {
  if (!wanted.unsupported.empty()) return std::nullopt;
  const Problem problem = dispatch::comparable(wanted.problem);
  const bool may = problem.layout.a == Order::row_major && problem.shape.m <= kMostThinnedRows;
  return may ? std::optional(problem) : std::nullopt;
}

// The same for problems that differ in their rows only.
std::string but_for_rows(const Problem& comparable) {
  return key(dispatch::with_rows(comparable, 1));
}

using Rows = std::set<int64_t, std::greater<>>;

// Of these numbers of rows those that stay.
Rows staying(const Rows& rows) {
  Rows kept = {*rows.begin(), *rows.rbegin()};
  int64_t last = *rows.begin();
  for (const int64_t m : rows) {
    if (last - m < std::max((last + 3) / 4, kLeastStep)) continue;
    kept.insert(m);
    last = m;
  }
  return kept;
}

}  // namespace

size_t thin_rows(std::vector<WantedProblem>& wanted) {
  std::map<std::string, Rows> families;
  for (const WantedProblem& one : wanted) {
    if (const auto problem = may_thin(one))
      families[but_for_rows(*problem)].insert(problem->shape.m);
  }
  for (auto& [family, rows] : families) rows = staying(rows);
  return std::erase_if(wanted, [&](const WantedProblem& one) {
    const auto problem = may_thin(one);
    return problem && !families.at(but_for_rows(*problem)).contains(problem->shape.m);
  });
}

}  // namespace gemmtune::app
