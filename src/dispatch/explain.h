#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/problem.h"
#include "dispatch/decision.h"

namespace gemmtune::dispatch {

// A decision about a problem, for people or programs.
struct Explanation {
  Problem problem;
  Decision decision;
  size_t chosen = 0;                       // in decision.choices, where there are any
  std::optional<bool> prepared;            // nothing where nothing is ever prepared
  std::optional<int64_t> workspace_bytes;  // where that is known
};

// Several lines.
std::string to_text(const Explanation& explanation);
// One object in one line; docs/runtime.md lists its keys.
std::string to_json(const Explanation& explanation);

}  // namespace gemmtune::dispatch
