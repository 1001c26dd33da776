#pragma once

#include <string>
#include <vector>

#include "app/common/target.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/error.h"
#include "core/problem.h"

namespace gemmtune::app {

// The spaces to search: those of `strategies` (all registered ones if empty), each from its file in
// `files` if there is one. With files and no strategies, only the files' spaces.
Expected<std::vector<codegen::SearchSpace>> choose_spaces(
    const std::vector<std::string>& strategies, const std::vector<std::string>& files);

// A strategy that does not compute a problem, and what it lacks.
struct Refusal {
  const codegen::Strategy* strategy;
  std::string reason;
};

struct SupportedSpaces {
  std::vector<codegen::SearchSpace> spaces;
  std::vector<Refusal> refusals;
};

// Those of `spaces` whose strategies compute `problem` on the target and that hold a tile to try.
// ErrorKind::unsupported if none does, with the reasons of those that another architecture runs.
Expected<SupportedSpaces> supported_spaces(const Problem& problem,
                                           const std::vector<codegen::SearchSpace>& spaces,
                                           const Target& target);

}  // namespace gemmtune::app
