// The shipped spaces: what a search may see of them, and what won there.
#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "codegen/kernel_spec.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/device.h"
#include "core/tile_config.h"
#include "shipped/shipped_results.h"
#include "tuner/search/points.h"
#include "tuner/search/ranked_space.h"
#include "tuner/search/search.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {
namespace {

// The space with values left out at random, the first of each parameter kept, until it is small
// enough to look at every point.
codegen::SearchSpace part_of(codegen::SearchSpace space, std::mt19937& random) {
  constexpr int64_t kMostPoints = 1'000'000;
  while (space.size() > kMostPoints) {
    auto& values = space.values[random() % space.values.size()];
    if (values.size() == 1) continue;
    values.erase(values.begin() + 1 + static_cast<std::ptrdiff_t>(random() % (values.size() - 1)));
  }
  return space;
}

// Search skips a geometry whose first point is illegal.
TEST_CASE("no legal point of a shipped space is skipped") {
  std::mt19937 random(1);
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    Problem p =
        make_problem({1024, 1024, 1024}, strategy->takes_types() ? DataType::f16 : DataType::f32);
    const auto whole = *codegen::default_search_space(*strategy);
    const DeviceSpec& device = representative_device({9, 0, false});
    CAPTURE(strategy->name());
    for (int draw = 0; draw < 4; ++draw) {
      p.epilogue.activation = draw % 2 == 0 ? kNoActivation : kRelu;
      const SearchedSpace searched = ranked_space(part_of(whole, random), p, device);
      const codegen::SearchSpace& space = searched.space;
      std::set<std::string> geometries;  // of the legal points
      for (int64_t i = 0; i < space.size(); ++i) {
        TileConfig tile = space.at(i);
        if (!searched.legal(tile)) continue;
        for (const size_t other : other_parameters(space)) tile.*space.members[other] = 0;
        geometries.insert(to_string(tile));
      }
      const Search search({searched}, 1);
      CHECK(search.geometries() == geometries.size());
    }
  }
}

TEST_CASE("kernels on tensor cores are tried first with the raster that reads least") {
  const DeviceSpec& device = representative_device({9, 0, false});
  const auto first_raster = [&](const char* strategy, const char* tile, Problem problem) {
    problem.layout = *parse_layout("tnt");
    const SearchedSpace space = ranked_space(
        *codegen::default_search_space(**codegen::find_strategy(strategy)), problem, device);
    return space.first_order(*parse_tile(tile)).raster;
  };
  const Problem wide = make_problem({512, 2048, 8192}, DataType::bf16);
  const std::string tile = "tile_m=64 tile_n=128 tile_k=64 stages=8 consumers=1 raster=1 ";
  CHECK(first_raster("wgmma_tma", (tile + "cluster_m=1 cluster_n=1").c_str(), wide) == 4);
  CHECK(first_raster("wgmma_tma", (tile + "cluster_m=2 cluster_n=1").c_str(), wide) == 1);
  CHECK(first_raster("wgmma_tma", (tile + "cluster_m=1 cluster_n=1").c_str(),
                     make_problem({512, 2048, 1024}, DataType::bf16)) == 1);
  CHECK(first_raster("mma_split_k",
                     "tile_m=16 tile_n=32 tile_k=128 warp_m=16 warp_n=32 stages=4 fragments=1 "
                     "slices=1 groups=1 raster=1",
                     make_problem({32, 2112, 7168}, DataType::bf16)) == 8);
  CHECK(first_raster("multistage",
                     "tile_m=64 tile_n=128 tile_k=8 warp_m=32 warp_n=64 thread_m=8 thread_n=8 "
                     "stages=3 fragments=2 raster=1",
                     make_problem({512, 2048, 8192})) == 1);
}

// A consumer that waits for its turn in a block with one tile has nothing to do.
TEST_CASE("consumers take turns only in persistent grids") {
  const Problem p = make_problem({4096, 4096, 4096}, DataType::bf16, *parse_layout("tnt"));
  const DeviceSpec& device = representative_device({9, 0, false});
  const auto space = *codegen::default_search_space(**codegen::find_strategy("wgmma_tma"));
  Search search({ranked_space(space, p, device)}, 1);
  TileConfig tile = *parse_tile(
      "tile_m=128 tile_n=128 tile_k=64 stages=4 consumers=2 schedule=1 cluster_m=1 cluster_n=1 "
      "raster=4");
  search.suggest(*search.find("wgmma_tma", tile));
  tile.persistent_blocks = 132;
  search.suggest(*search.find("wgmma_tma", tile));
  const auto seeds = search.seeds(64);
  CHECK(search.tile(seeds[0]).schedule == kCooperative);
  CHECK(search.tile(seeds[0]).consumers == 1);
  CHECK(search.tile(seeds[0]).raster == 4);
  CHECK(search.tile(seeds[1]) == tile);
  for (const Choice& seed : seeds) {
    const TileConfig tried = search.tile(seed);
    CHECK((tried.schedule != kPingPong || tried.persistent_blocks > 0));
  }
}

// Its space has atomic additions first, which no activation follows.
TEST_CASE("split_k is tried where there is an activation") {
  Problem p = make_problem({512, 512, 16384});
  p.epilogue.activation = kRelu;
  const auto space = *codegen::default_search_space(**codegen::find_strategy("split_k"));
  for (const Arch arch : {Arch{8, 0, false}, Arch{9, 0, false}}) {
    const DeviceSpec& device = representative_device(arch);
    CHECK(check_any_legal(space, p, device).has_value());
    Search search({ranked_space(space, p, device)}, 1);
    for (const Choice& choice : search.seeds(8))
      CHECK(search.tile(choice).reduction != kReduceAtomic);
  }
}

// Else a search on the same GPU, which begins with what is shipped, could not try it, and the
// library could not load it.
TEST_CASE("every shipped kernel is a legal point of its strategy's space") {
  const auto entries = shipped::entries();
  REQUIRE_MESSAGE(entries.has_value(), (entries ? "" : entries.error().message));
  int kernels = 0;
  for (const store::Entry& entry : *entries) {
    if (entry.record.outcome != store::Outcome::ok) continue;
    const store::Record& record = entry.record;
    CAPTURE(record.key.strategy);
    CAPTURE(record.key.config);
    const auto space = codegen::default_search_space(**codegen::find_strategy(record.key.strategy));
    const auto tile = parse_tile(record.key.config);
    REQUIRE(space.has_value());
    REQUIRE(tile.has_value());
    CHECK(space->holds(*tile));
    const auto spec = kernel_of(record);
    REQUIRE(spec.has_value());
    const DeviceSpec device = device_limits(entry.device->device, record.job.arch);
    const codegen::Rule* const broken = codegen::broken_rule(*spec, device);
    CHECK_MESSAGE(broken == nullptr, broken->name);
    ++kernels;
  }
  CHECK(kernels > 20);
}

}  // namespace
}  // namespace gemmtune::tuner
