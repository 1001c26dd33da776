#include "tuner/session/failures.h"

#include <fmt/format.h>

namespace gemmtune::tuner {

void Failures::count(store::Outcome outcome) {
  if (outcome == store::Outcome::ok || outcome == store::Outcome::not_run) return;
  ++counts_[std::string(store::to_string(outcome))];
}

std::vector<std::pair<std::string, int>> Failures::counts() const {
  return {counts_.begin(), counts_.end()};
}

std::string Failures::text() const {
  std::string text = "no candidate worked";
  for (const auto& [outcome, count] : counts_) text += fmt::format(", {} {}", count, outcome);
  return text;
}

}  // namespace gemmtune::tuner
