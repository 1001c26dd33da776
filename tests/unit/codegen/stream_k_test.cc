#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "codegen/emitter.h"
#include "codegen/strategy.h"

#include "parts/shared/partial_tiles.h"
#include "parts/shared/stream_k_ranges.h"

// The arithmetic of mma_stream_k: who multiplies which k tiles, and where the sums go.

namespace gemmtune::codegen {
namespace {

StreamKRanges ranges_of(int tiles, int tiles_k, int blocks) {
  TileConfig tile;
  tile.tile_m = tile.tile_n = 64;
  tile.tile_k = 32;
  tile.sharing_blocks = blocks;
  GemmArgs args;
  args.m = 64 * tiles - 1;
  args.n = 1;
  args.k = 32 * tiles_k - 1;
  return stream_k_ranges(tile, args);
}

// Follows the line of shared k tiles range by range, as the kernel does.
void check_ranges(const StreamKRanges& s) {
  CAPTURE(s.tiles);
  CAPTURE(s.tiles_k);
  CAPTURE(s.blocks);
  CHECK(s.begin(0) == 0);
  CHECK(s.begin(s.blocks) == s.length());
  std::map<int, std::vector<int>> slots_of;  // by tile, in the order of k
  std::set<int> used;
  for (int b = 0; b < s.blocks; ++b) {
    const int length = s.begin(b + 1) - s.begin(b);
    CHECK(length >= s.length() / s.blocks);
    CHECK(length <= (s.length() + s.blocks - 1) / s.blocks);
    int tile = s.begin(b) / s.tiles_k;
    int slot = 2 * b;
    for (int i = s.begin(b); i < s.begin(b + 1); ++tile, slot = 2 * b + 1) {
      const int end = std::min(s.begin(b + 1), (tile + 1) * s.tiles_k);
      for (int x = i; x < end; ++x) CHECK(s.block_of(x) == b);
      if (end - i < s.tiles_k) {
        CHECK(slot < s.slots());
        CHECK(used.insert(slot).second);
        CHECK(s.slot(b, tile) == slot);
        slots_of[tile].push_back(slot);
      }
      i = end;
    }
  }
  // What the second kernel reads of each tile.
  for (int tile = 0; tile < s.split_tiles; ++tile) {
    const int first = s.block_of(tile * s.tiles_k);
    const int last = s.block_of((tile + 1) * s.tiles_k - 1);
    std::vector<int> read;
    for (int b = first; b <= last && first < last; ++b) read.push_back(s.slot(b, tile));
    CHECK(read == slots_of[tile]);
  }
}

TEST_CASE("ranges of a stream-K product cover every k tile once, and slots are not shared") {
  for (const int blocks : {2, 3, 5, 8, 13, 132}) {
    for (const int tiles : {1, 2, 3, 7, 12, 16, 29, 133, 200}) {
      for (const int tiles_k : {1, 2, 3, 8, 17}) {
        const StreamKRanges s = ranges_of(tiles, tiles_k, blocks);
        REQUIRE(s.tiles == tiles);
        REQUIRE(s.tiles_k == tiles_k);
        CHECK(s.split_tiles <= tiles);
        // Those that are not shared are whole waves.
        CHECK((tiles - s.split_tiles) % blocks == (tiles_k == 1 ? tiles % blocks : 0));
        CHECK(s.grid() == tiles - s.split_tiles + (s.split_tiles > 0 ? blocks : 0));
        check_ranges(s);
      }
    }
  }
}

TEST_CASE("a last wave and one more are shared, whole waves are not") {
  CHECK(ranges_of(64, 16, 132).split_tiles == 64);
  CHECK(ranges_of(132, 16, 132).split_tiles == 0);
  CHECK(ranges_of(132, 16, 132).slots() == 0);
  CHECK(ranges_of(133, 16, 132).split_tiles == 133);
  CHECK(ranges_of(300, 16, 132).split_tiles == 168);
  CHECK(ranges_of(300, 16, 132).grid() == 264);
  CHECK(ranges_of(300, 1, 132).split_tiles == 0);
}

TEST_CASE("mma_stream_k's launches, workspace and depth") {
  const Strategy& strategy = **find_strategy("mma_stream_k");
  const auto spec_of = [&](const Problem& p) {
    return spec_for(
        strategy,
        *parse_tile("tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 "
                    "order=1 fragments=2 raster=1 sharing_blocks=132"),
        p, {9, 0, false});
  };
  // 300 tiles of 16 k tiles: 168 of them shared by 132 blocks, 20.4 k tiles each.
  const Problem large = make_problem({1920, 2560, 1024}, DataType::f16);
  const KernelSpec spec = spec_of(large);
  REQUIRE(broken_rule(spec, representative_device({9, 0, false})) == nullptr);
  const LaunchPlan plan = strategy.launch_plan(spec, large);
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].config.grid == Dim3{264, 1, 1});
  CHECK(plan.launches[1].config.grid ==
        Dim3{168 * 16, 1, 1});  // two or three slots a tile: one way
  CHECK(plan.writes_c_early);   // tiles that nobody shares
  CHECK(plan.workspace_bytes == 2 * 132 * 128 * 128 * 4);
  CHECK(strategy.work(spec, large).reduction_bytes == 2 * (131 + 131) * 128 * 128 * 4);
  CHECK(strategy.work(spec, large).block_depth == 19 * 64);
  CHECK(strategy.entry_points(spec).size() == 2);
  CHECK(strategy.worthwhile(spec, large));
  // Whole waves: one launch, no workspace.
  const Problem whole = make_problem({1408, 1536, 1024}, DataType::f16);
  CHECK(strategy.launch_plan(spec, whole).launches.size() == 1);
  CHECK(strategy.launch_plan(spec, whole).workspace_bytes == 0);
  CHECK_FALSE(strategy.launch_plan(spec, whole).writes_c_early);
  // Fewer k tiles than blocks to share them.
  CHECK_FALSE(strategy.worthwhile(spec, make_problem({128, 128, 1024}, DataType::f16)));
}

TEST_CASE("mma_stream_k takes at least 16 of k at a time, by which it counts") {
  const Strategy& strategy = **find_strategy("mma_stream_k");
  Problem problem = make_problem({528, 528, 1 << 24});
  problem.math = MathMode::tf32;
  const auto broken = [&](int tile_k) {
    const KernelSpec spec = spec_for(
        strategy,
        *parse_tile("tile_m=32 tile_n=32 warp_m=16 warp_n=16 stages=3 copy=1 order=1 fragments=2 "
                    "raster=1 sharing_blocks=1024 tile_k=" +
                    std::to_string(tile_k)),
        problem, {9, 0, false});
    const Rule* rule = broken_rule(spec, representative_device({9, 0, false}));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  CHECK(broken(8) == "tile_k of at least 16");
  CHECK(broken(16).empty());
}

TEST_CASE("mma_stream_k's source says the largest k, which its host code refuses to exceed") {
  const Strategy& strategy = **find_strategy("mma_stream_k");
  const int64_t most = strategy.most_k();
  CHECK(most == 1 << 24);
  Problem problem = make_problem({64, 64, most}, DataType::f16);
  CHECK(strategy.supports(problem, {8, 0, false}));
  const KernelSpec spec =
      spec_for(strategy,
               *parse_tile("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 "
                           "order=1 fragments=2 raster=1 sharing_blocks=132"),
               problem, {8, 0, false});
  const std::string text = emit_standalone(spec);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  CHECK(has(" + beta * C, any m and n, k of at most 16777216. "));
  CHECK_FALSE(has("any m, n and k"));
  CHECK(has("// Launch:  if (args.k > 16777216) return cudaErrorInvalidValue;"));
  problem.shape.k = most + 8;
  pack(problem);
  CHECK_FALSE(strategy.supports(problem, {8, 0, false}));
  // The widest ranges of all, at the largest k: counted without an overflow.
  GemmArgs args;
  args.m = 64 * 2047;
  args.n = 64;
  args.k = static_cast<int>(most);
  TileConfig tile = spec.tile;
  tile.tile_k = 16;
  tile.sharing_blocks = 1024;
  const StreamKRanges ranges = stream_k_ranges(tile, args);
  CHECK(ranges.length() == int64_t{2047} * (most / 16));
  CHECK(ranges.begin(1024) == ranges.length());
}

TEST_CASE("mma_stream_k refuses what it cannot count") {
  const Strategy& strategy = **find_strategy("mma_stream_k");
  CHECK(strategy.supports(make_problem({64, 64, 1 << 24}, DataType::f16), {8, 0, false}));
  CHECK_FALSE(
      strategy.supports(make_problem({64, 64, (1 << 24) + 8}, DataType::f16), {8, 0, false}));
  for (const auto& [blocks, rule] : {std::pair{1, "at least 2 sharing blocks"},
                                     std::pair{1025, "at most 1024 sharing blocks"}}) {
    KernelSpec spec{&strategy,
                    *parse_tile("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 "
                                "order=1 fragments=2"),
                    {true, false, 8, 8, 8},
                    DataType::bf16};
    spec.tile.sharing_blocks = blocks;
    const Rule* broken = broken_rule(spec, representative_device({8, 0, false}));
    REQUIRE(broken != nullptr);
    CHECK(broken->name == rule);
  }
}

}  // namespace
}  // namespace gemmtune::codegen
