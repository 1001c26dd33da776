#include "tuner/finalists.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace gemmtune::tuner {
namespace {

Candidate named(const std::string& config) {
  Candidate candidate;
  candidate.key.strategy = "naive";
  candidate.key.config = config;
  return candidate;
}

std::string configs(const Finalists& finalists) {
  std::string text;
  for (const Candidate& candidate : finalists.chosen()) text += candidate.key.config;
  return text;
}

TEST_CASE("the six fastest are finalists, fastest first") {
  Finalists finalists;
  CHECK(finalists.fastest() == nullptr);
  CHECK(finalists.chosen().empty());
  for (const char* config : {"h", "b", "e", "a", "g", "c", "f", "d"})
    finalists.add(config[0] - 'a' + 1, named(config));
  finalists.add(std::numeric_limits<double>::infinity(), named("z"));
  CHECK(configs(finalists) == "abcdef");
  CHECK(finalists.fastest()->time_us == 1);
}

TEST_CASE("the best of earlier sessions is a finalist whatever its time, once") {
  Finalists finalists;
  CHECK_FALSE(finalists.has_defender());
  finalists.add_defender(50, named("x"));
  CHECK(finalists.has_defender());
  CHECK(configs(finalists) == "x");
  for (const char* config : {"a", "b", "c", "d", "e", "f", "g"})
    finalists.add(config[0] - 'a' + 1, named(config));
  CHECK(configs(finalists) == "abcdefx");
}

}  // namespace
}  // namespace gemmtune::tuner
