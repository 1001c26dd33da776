#include "app/tune/shard.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace gemmtune::app {
namespace {

std::vector<WantedProblem> problems(int count) {
  std::vector<WantedProblem> all(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<size_t>(i)].text = std::to_string(i);
  return all;
}

TEST_CASE("a shard is a number of a count") {
  const auto shard = parse_shard("2/8");
  REQUIRE(shard.has_value());
  CHECK(shard->number == 2);
  CHECK(shard->count == 8);
  for (const char* text : {"", "2", "/", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "1.5/2", " 1/2",
                           "1/2 ", "a/b", "1/99999999999", "1\\2"}) {
    CAPTURE(text);
    const auto refused = parse_shard(text);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("shards share out all problems, each once, as evenly as can be") {
  for (int total = 1; total <= 20; ++total) {
    for (int count = 1; count <= total; ++count) {
      std::multiset<std::string> seen;
      for (int number = 1; number <= count; ++number) {
        const auto part = take_shard(problems(total), {number, count}).value();
        CHECK(static_cast<int>(part.size()) >= total / count);
        CHECK(static_cast<int>(part.size()) <= (total + count - 1) / count);
        CHECK(part.front().text == std::to_string(number - 1));
        for (const WantedProblem& problem : part) seen.insert(problem.text);
      }
      CHECK(static_cast<int>(seen.size()) == total);
      CHECK(std::set(seen.begin(), seen.end()).size() == seen.size());
    }
  }
}

TEST_CASE("more shards than problems are refused") {
  const auto refused = take_shard(problems(3), {1, 4});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::usage);
  CHECK(refused.error().message == "--shard: 3 problems make at most 3 shards, not 4");
}

}  // namespace
}  // namespace gemmtune::app
