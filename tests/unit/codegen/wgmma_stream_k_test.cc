#include <doctest/doctest.h>

#include <set>

#include "codegen/strategy.h"

#include "parts/shared/wgmma_stream_k.h"

// Who multiplies what in wgmma_stream_k, who waits for whom, and what the host plans for it.

namespace gemmtune::codegen {
namespace {

WgmmaStreamKRanges ranges_of(int tiles, int tiles_k, int blocks, int cluster_n) {
  TileConfig tile;
  tile.tile_m = tile.tile_n = 64;
  tile.tile_k = 64;
  tile.consumers = 1;
  tile.cluster_n = cluster_n;
  tile.sharing_blocks = blocks;
  GemmArgs args;
  args.m = 64 * tiles - 1;
  args.n = 1;
  args.k = 64 * tiles_k - 1;
  return {tile, args};
}

// As the kernel goes through a cluster's range: the sums of a tile that begins in it are added to
// those of the ranges behind, each of which has one tile that it does not begin.
void check_who_waits(const WgmmaStreamKRanges& s) {
  CAPTURE(s.tiles);
  CAPTURE(s.tiles_k);
  CAPTURE(s.blocks);
  std::set<int> left;
  std::set<int> read;
  for (int position = 0; position < s.busy(); ++position) {
    const int end = s.begin(position + 1);
    for (int i = s.begin(position); i < end;) {
      const int tile = i / s.tiles_k;
      const int of_tile = (tile + 1) * s.tiles_k;
      if (i % s.tiles_k != 0) {
        CHECK(left.insert(position).second);
      } else if (end < of_tile) {
        const int last = s.block_of(of_tile - 1);
        CHECK(last > position);
        CHECK(last < s.busy());
        for (int other = position + 1; other <= last; ++other) CHECK(read.insert(other).second);
      }
      i = of_tile;
    }
  }
  CHECK(left == read);
}

TEST_CASE("sums that a cluster of wgmma_stream_k leaves are read once, by one launched after it") {
  for (const int blocks : {2, 3, 8, 13, 132}) {
    for (const int tiles : {1, 2, 7, 12, 29, 133, 200}) {
      for (const int tiles_k : {1, 2, 3, 17}) {
        const WgmmaStreamKRanges s = ranges_of(tiles, tiles_k, blocks, 1);
        CHECK(s.busy() > 0);
        CHECK(s.busy() <= blocks);
        if (s.split_tiles > 0) check_who_waits(s);
      }
    }
  }
}

TEST_CASE("clusters of wgmma_stream_k share out what clusters compute") {
  const WgmmaStreamKRanges pairs = ranges_of(12, 8, 10, 2);
  CHECK(pairs.blocks == 5);
  CHECK(pairs.tiles == 12);
  CHECK(pairs.split_tiles == 7);
  CHECK(pairs.busy() == 5);
  CHECK(ranges_of(1, 3, 132, 1).busy() == 3);
  CHECK(ranges_of(10, 8, 10, 2).split_tiles == 0);
  CHECK(ranges_of(10, 8, 10, 2).sharing() == 0);
  CHECK(ranges_of(3, 1, 132, 1).busy() == 3);
}

TEST_CASE("wgmma_stream_k's launch and workspace") {
  const Strategy& strategy = **find_strategy("wgmma_stream_k");
  const auto spec_of = [&](const char* tile, const Problem& p) {
    return spec_for(strategy, *parse_tile(tile), p, {9, 0, false});
  };
  constexpr auto kTile =
      "tile_m=112 tile_n=128 tile_k=64 stages=7 consumers=2 exchange=1 cluster_m=2 cluster_n=1 "
      "sharing_blocks=128 raster=1";
  const Problem problem = make_problem({224, 5120, 13824}, DataType::bf16, *parse_layout("tnt"));
  const KernelSpec spec = spec_of(kTile, problem);
  REQUIRE(broken_rule(spec, representative_device({9, 0, false})) == nullptr);
  CHECK(strategy.worthwhile(spec, problem));
  const LaunchPlan plan = strategy.launch_plan(spec, problem);
  REQUIRE(plan.launches.size() == 1);
  CHECK(plan.launches[0].config.grid == Dim3{128, 1, 1});
  CHECK(plan.launches[0].config.cluster.x == 2);
  CHECK(plan.workspace_bytes == 128 * (112 * 128 * 4 + 8));
  CHECK(plan.awaited_bytes == 128 * 8);
  CHECK(strategy.work(spec, problem).block_depth == 135 * 64);
  CHECK(strategy.work(spec, problem).handed_bytes == 112 * 128 * 4);
  // Eight clusters have a tile each.
  const Problem tall = make_problem({224, 1024, 13824}, DataType::bf16, *parse_layout("tnt"));
  CHECK(strategy.work(spec_of(kTile, tall), tall).handed_bytes == 7 * 112 * 128 * 4);
  // Whole waves.
  const Problem whole = make_problem({224, 8192, 13824}, DataType::bf16, *parse_layout("tnt"));
  CHECK_FALSE(strategy.worthwhile(spec_of(kTile, whole), whole));
  CHECK(strategy.launch_plan(spec_of(kTile, whole), whole).workspace_bytes == 0);
  CHECK(strategy.work(spec_of(kTile, whole), whole).handed_bytes == 0);
}

TEST_CASE("wgmma_stream_k refuses what it cannot count or add") {
  const Strategy& strategy = **find_strategy("wgmma_stream_k");
  const auto broken = [&](const char* tile) {
    const Rule* rule =
        broken_rule({strategy, *parse_tile(tile), {true, false, 8, 8, 8}, DataType::bf16},
                    representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  CHECK(broken("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks=1") ==
        "at least 2 sharing clusters");
  CHECK(broken("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 cluster_n=2 sharing_blocks=5") ==
        "sharing blocks in whole clusters");
  CHECK(broken("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 sharing_blocks=1025") ==
        "at most 1024 sharing blocks");
  Problem problem = make_problem({64, 64, (1 << 24) + 64}, DataType::f16, *parse_layout("tnt"));
  CHECK_FALSE(strategy.supports(problem, {9, 0, false}));
  problem.shape.k = 64;
  CHECK(strategy.supports(problem, {9, 0, false}));
  problem.accumulator = DataType::f16;
  CHECK_FALSE(strategy.supports(problem, {9, 0, false}));
}

}  // namespace
}  // namespace gemmtune::codegen
