#pragma once

#include <functional>
#include <string>
#include <variant>

#include "core/problem.h"

namespace gemmtune::app {

// What a message advises to do next. How it is said depends on who asked: as a command to type, or
// as a link.

// Find a kernel for a problem.
struct TuneStep {
  Problem problem;
  std::string arch;      // empty: that of the GPU here
  std::string strategy;  // empty: all
  bool warm = false;
};
// Look at the results that there are.
struct ListStep {};
// Bring the database to this program's schema.
struct UpgradeStep {};

using NextStep = std::variant<TuneStep, ListStep, UpgradeStep>;
using WordStep = std::function<std::string(const NextStep&)>;

}  // namespace gemmtune::app
