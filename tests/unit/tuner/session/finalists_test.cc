#include "tuner/session/finalists.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

namespace gemmtune::tuner {
namespace {

Candidate named(const std::string& config) {
  Candidate candidate;
  candidate.spec.tile.tile_m = config[0];
  candidate.key.strategy = "naive";
  candidate.key.config = config;
  return candidate;
}

void add(Finalists& finalists, int time_us, Candidate candidate) {
  finalists.add({static_cast<double>(time_us), std::move(candidate), nullptr});
}

std::string configs(const Finalists& finalists) {
  std::string text;
  for (const auto& finalist : finalists.chosen()) text += finalist.candidate.key.config;
  return text;
}

TEST_CASE("the six fastest are finalists, fastest first") {
  Finalists finalists;
  CHECK(finalists.fastest() == nullptr);
  CHECK(finalists.chosen().empty());
  for (const char* config : {"h", "b", "e", "a", "g", "c", "f", "d"})
    add(finalists, config[0] - 'a' + 1, named(config));
  finalists.add({std::numeric_limits<double>::infinity(), named("z"), nullptr});
  CHECK(configs(finalists) == "abcdef");
  CHECK(finalists.fastest()->time_us == 1);
}

TEST_CASE("at most two finalists have one geometry") {
  Finalists finalists;
  for (const char* config : {"a3", "a1", "b7", "a4", "c8", "a2"})
    add(finalists, config[1] - '0', named(config));
  CHECK(configs(finalists) == "a1a2b7c8");
  // Other orders, stages and the like are variants; another tile or warp is not.
  Candidate other = named("a5");
  other.spec.tile.warp_n = 64;
  add(finalists, 5, other);
  Candidate variant = named("a6");
  variant.spec.tile.stages = 4;
  add(finalists, 6, variant);
  CHECK(configs(finalists) == "a1a2a5b7c8");
}

TEST_CASE("the best of earlier sessions is a finalist whatever its time, once") {
  Finalists finalists;
  CHECK_FALSE(finalists.has_defender());
  finalists.add_defender({50, named("x"), nullptr});
  CHECK(finalists.has_defender());
  CHECK(configs(finalists) == "x");
  for (const char* config : {"a", "b", "c", "d", "e", "f", "g"})
    add(finalists, config[0] - 'a' + 1, named(config));
  CHECK(configs(finalists) == "abcdefx");
}

TEST_CASE("equally fast candidates come in one order, in whatever they were found") {
  Finalists finalists;
  for (const char* config : {"c", "a", "b"}) add(finalists, 1, named(config));
  CHECK(configs(finalists) == "abc");
  for (const char* config : {"g", "f", "d", "e"}) add(finalists, 1, named(config));
  CHECK(configs(finalists) == "abcdef");
}

}  // namespace
}  // namespace gemmtune::tuner
