#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/problem.h"

namespace gemmtune::app {

// The options that name problems, as typed.
struct ProblemOptions {
  std::vector<std::string> shapes;  // --shape MxNxK
  std::string m, n, k;              // --m --n --k, each "64" or "start:end:step"
  std::vector<std::string> suites;  // --suite FILE
  std::string f32;                  // --f32: the split mode of f32 products of suites; empty: none
  std::string type = "f32";
  std::string accumulator;  // --acc; empty: usual_accumulator() of `type`
  std::string math = "ieee";
  std::string layout = "ttt";
  std::string result;  // --out; empty: as `type`
  std::string epilogue = "none";
  int64_t lda = 0;  // 0: the smallest
  int64_t ldb = 0;
  int64_t ldc = 0;
  int64_t batch = 1;
  int align_bytes = kUsualAlignBytes;

  bool operator==(const ProblemOptions&) const = default;
};

// Whether sizes are named, in whole or in part; suites do not count.
bool names_sizes(const ProblemOptions& options);

// A problem that was asked for.
struct WantedProblem {
  Problem problem;
  std::string text;         // for messages
  std::string group;        // of its suite; empty for one from the command line
  std::string unsupported;  // a suite may name what cannot be computed yet; else empty
  int64_t count = 1;        // calls in a step of the suite's program
};

// The values of "64" or "start:end:step" (end included, as cutlass_profiler has it; the step may be
// left out). `name` is the flag, for errors.
Expected<std::vector<int64_t>> parse_range(std::string_view text, std::string_view name);

// Everything that was asked for: shapes first, then ranges, then suites; at least one. Errors are
// of kind usage.
Expected<std::vector<WantedProblem>> parse_problems(const ProblemOptions& options);

// The same where exactly one problem is meant.
Expected<Problem> parse_problem(const ProblemOptions& options);

}  // namespace gemmtune::app
