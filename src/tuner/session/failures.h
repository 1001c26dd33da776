#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/record.h"

namespace gemmtune::tuner {

// Candidates that came to nothing, by outcome.
class Failures {
 public:
  void count(store::Outcome outcome);
  std::vector<std::pair<std::string, int>> counts() const;
  // "no candidate worked, 3 spilled".
  std::string text() const;

 private:
  std::map<std::string, int> counts_;
};

}  // namespace gemmtune::tuner
