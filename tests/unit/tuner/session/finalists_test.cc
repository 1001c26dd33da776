#include "tuner/session/finalists.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
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

TEST_CASE("where none are close the four fastest are finalists, fastest first") {
  Finalists finalists;
  CHECK(finalists.fastest() == nullptr);
  CHECK(finalists.chosen().empty());
  for (const char* config : {"h", "b", "e", "a", "g", "c", "f", "d"})
    add(finalists, config[0] - 'a' + 1, named(config));
  finalists.add({std::numeric_limits<double>::infinity(), named("z"), nullptr});
  CHECK(configs(finalists) == "abcd");
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
  CHECK(configs(finalists) == "a1a2a5b7");
}

TEST_CASE("the best of earlier sessions is a finalist whatever its time, once") {
  Finalists finalists;
  CHECK_FALSE(finalists.has_defender());
  finalists.add_defender({50, named("x"), nullptr});
  CHECK(finalists.has_defender());
  CHECK(configs(finalists) == "x");
  for (const char* config : {"a", "b", "c", "d", "e", "f", "g"})
    add(finalists, config[0] - 'a' + 1, named(config));
  CHECK(configs(finalists) == "abcdx");
}

// Each of a geometry of its own.
Finalists::Scored numbered(int number, double time_us, bool timed_here) {
  Candidate candidate = named("x" + std::to_string(number));
  candidate.spec.tile.tile_m = number;
  return {time_us, candidate, timed_here ? std::make_shared<const jit::CompiledKernel>() : nullptr};
}

TEST_CASE("finalists are many where many are close to the fastest") {
  Finalists close;
  for (int i = 0; i < 40; ++i) close.add(numbered(i, 100 + 0.2 * i, true));
  CHECK(close.chosen().size() == 24);
  Finalists fewer;
  for (int i = 0; i < 40; ++i) fewer.add(numbered(i, 100 + 0.5 * i, true));
  CHECK(fewer.chosen().size() == 13);  // up to 106
  Finalists few;
  for (int i = 0; i < 40; ++i) few.add(numbered(i, 100 + 5 * i, true));
  CHECK(few.chosen().size() == 4);
}

TEST_CASE("of what is to be compiled again, six at most are finalists") {
  Finalists finalists;
  for (int i = 0; i < 20; ++i) finalists.add(numbered(i, 100 + 0.1 * i, i % 2 == 1));
  const auto chosen = finalists.chosen();
  CHECK(chosen.size() == 16);
  CHECK(std::count_if(chosen.begin(), chosen.end(),
                      [](const Finalists::Scored& s) { return s.kernel == nullptr; }) == 6);
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
