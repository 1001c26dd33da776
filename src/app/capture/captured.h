#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/capture/product_count.h"
#include "core/problem.h"

namespace gemmtune::app {

// A problem that a program asked for, with all that differed between its calls put together.
struct CapturedProblem {
  Problem problem;  // canonical
  int64_t calls = 0;
  int64_t graph_calls = 0;                 // of them, under stream capture
  int64_t beta_calls = 0;                  // of them, with a beta that is not 0 or not known
  std::optional<int64_t> workspace_bytes;  // the smallest limit that the program set
  std::optional<double> call_us;           // median GPU time of a call

  // GPU time of all calls; 0 where none was timed.
  double total_us() const { return call_us.value_or(0) * static_cast<double>(calls); }
};

// Products that are no problem of this project.
struct OtherProducts {
  std::string reason;
  int64_t calls = 0;
  double total_us = 0;
};

// Problems that differ in m only, as the batch or the sequence of a program varies.
struct Family {
  std::string text;        // their key with "M" for m
  std::vector<int64_t> m;  // ascending
  int64_t calls = 0;
  double total_us = 0;
};

// The products of a program.
struct Captured {
  std::vector<CapturedProblem> problems;  // the largest time first, then the most calls
  std::vector<OtherProducts> others;      // the same
  std::vector<Family> families;           // of at least three problems; the same
  int64_t calls_left_out = 0;
  int64_t unread_lines = 0;
  int processes = 0;

  int64_t calls() const;  // of all problems and others
  double total_us() const;
};

// The smaller of the two in the middle, since a problem's first call also loads its kernel; nothing
// of nothing.
std::optional<double> median(std::vector<float> values);

// Calls use(problem, count) for each count that is a problem of this project. Returns the others,
// put together by why they are none, in the order of that.
std::vector<OtherProducts> for_each_problem(
    const ProductCounts& counts,
    const std::function<void(const Problem& problem, const ProductCount& count)>& use);

// Puts together what was counted in all processes.
Captured merge(const ProductCounts& counts);

}  // namespace gemmtune::app
