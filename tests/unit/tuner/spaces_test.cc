// Every point of every shipped space.
#include <doctest/doctest.h>

#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "tuner/search.h"

namespace gemmtune::tuner {
namespace {

TEST_CASE("no legal point of a shipped space is skipped") {
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    const Problem p =
        make_problem({1024, 1024, 1024}, strategy->takes_types() ? DataType::f16 : DataType::f32);
    const auto space = *codegen::default_search_space(*strategy);
    const DeviceSpec& device = representative_device({9, 0, false});
    const auto legal = [&](const TileConfig& tile) {
      const codegen::KernelSpec spec = codegen::spec_for(*strategy, tile, p);
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
