#include "tuner/session/chooser.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "session_fixture.h"
#include "tuner/search/ranked_space.h"

namespace gemmtune::tuner {
namespace {

using session_test::Fixture;

struct ChooserFixture : Fixture {
  ChooserFixture() { REQUIRE(store->add_device(*services.device)); }

  const store::Job of = job();
  const codegen::SearchSpace space =
      *codegen::default_search_space(**codegen::find_strategy("double_buffer"));
  Search search{{ranked_space(space, request.problem, services.limits, nullptr)}, 1};
  PriorKnowledge prior{*store, of, services.limits, nullptr, search};
  Chooser chooser{request, search, prior, nullptr, false};
  // Far from the model's favourites.
  std::vector<Choice> others =
      Search({ranked_space(space, request.problem, services.limits, nullptr)}, 2).random_points(9);

  void suggest(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) search.suggest(others.at(i));
    chooser.count_seeds();
  }

  std::vector<Choice> next(size_t count) { return chooser.next(count, 0, 0, std::nullopt); }

  // Of all seeds, but those that were handed out before.
  size_t favourites_left(size_t handed_out) {
    size_t favourites = 0;
    for (size_t left = chooser.seeds() - handed_out; left > 0; --left) {
      const auto choice = next(1);
      REQUIRE(choice.size() == 1);
      if (std::find(others.begin(), others.end(), choice.front()) == others.end()) ++favourites;
    }
    return favourites;
  }
};

TEST_CASE_FIXTURE(ChooserFixture, "without suggestions, a share of the candidates are seeds") {
  suggest(0, 0);
  CHECK(chooser.seeds() == 35);
  next(8);
  chooser.count_seeds();
  CHECK(chooser.seeds() == 35);
  CHECK(favourites_left(8) == 27);
}

TEST_CASE_FIXTURE(ChooserFixture, "suggestions take no places of the favourites") {
  suggest(0, 5);
  CHECK(chooser.seeds() == 40);
  CHECK(next(8).size() == 8);  // three favourites, too
  suggest(5, 4);               // as the vendor's tiles are, once they are known
  CHECK(chooser.seeds() == 44);
  CHECK(favourites_left(8) == 32);
}

TEST_CASE_FIXTURE(ChooserFixture, "with many suggestions, seeds leave places to proposals") {
  request.max_candidates = 12;
  suggest(0, 9);
  CHECK(chooser.seeds() == 8);
}

}  // namespace
}  // namespace gemmtune::tuner
