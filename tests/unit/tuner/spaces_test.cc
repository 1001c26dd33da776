// Every point of every shipped space.
#include <doctest/doctest.h>

#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "tuner/search.h"

namespace gemmtune::tuner {
namespace {

TEST_CASE("no legal point of a shipped space is skipped") {
  const Problem p = make_problem({1024, 1024, 1024});
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    const auto space = *codegen::default_search_space(*strategy);
    const DeviceSpec& device = representative_device({9, 0, false});
    const auto legal = [&](const TileConfig& tile) {
      const codegen::KernelSpec spec{strategy, tile, codegen::traits_for(p), p.type};
      return codegen::broken_rule(spec, device) == nullptr && strategy->worthwhile(spec, p);
    };
    int64_t count = 0;
    for (int64_t i = 0; i < space.size(); ++i) count += legal(space.at(i)) ? 1 : 0;
    CAPTURE(strategy->name());
    const Search search({{space, legal, [](const TileConfig&) { return 1.0; }, {}}}, 1);
    CHECK(search.legal_points() == count);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
