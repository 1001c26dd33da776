#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/problem.h"

namespace gemmtune::tuner {

// One problem of a suite.
struct SuiteEntry {
  Problem problem;          // as written, packed; meaningless if `unsupported` is set
  std::string group;        // what the geometric means are taken over, e.g. "square f32"
  std::string text;         // the entry in words, for messages: "e4m3 tnt 2048x2048x2048"
  std::string unsupported;  // why it cannot be computed yet (a type to come); else empty
  int64_t count = 1;        // calls of it in one step of the program that the suite describes
};

// A list of problems that are tuned or compared together: a configs/suites/*.json.
struct Suite {
  std::string name;
  std::string about;
  std::vector<SuiteEntry> entries;
};

// Parses {"suite": ..., "about": ..., "problems": [{"m": ..., "n": ..., "k": ..., "dtype": "f32",
// "acc": "f32", "math": "ieee", "layout": "ttt", "lda"/"ldb"/"ldc"/"batch"/"align": ...,
// "stride_a"/"stride_b"/"stride_c": ..., "out": "f32", "epilogue": "none", "count": 1, "group":
// ..., "captured": {"call_us": ..., ...}}]}. Only m, n and k are required; "captured" is checked
// and left. Errors are of kind usage and name the file, the entry and the key.
Expected<Suite> parse_suite(std::string_view json, std::string_view file_name);

// Reads a suite file from disk.
Expected<Suite> load_suite(const std::string& path);

}  // namespace gemmtune::tuner
