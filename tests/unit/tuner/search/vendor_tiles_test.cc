#include "tuner/search/vendor_tiles.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/device.h"
#include "tuner/search/ranked_space.h"

namespace gemmtune::tuner {
namespace {

std::vector<Search::Space> hopper_spaces(const Problem& problem) {
  std::vector<Search::Space> spaces;
  for (const char* name : {"mma_multistage", "wgmma_tma", "wgmma_split_k"}) {
    const auto& strategy = **codegen::find_strategy(name);
    spaces.push_back(
        ranked_space(*codegen::default_search_space(strategy), problem, *find_device_spec("h200")));
  }
  return spaces;
}

constexpr size_t kTmaSpace = 1;
constexpr size_t kSplitKSpace = 2;

TEST_CASE("tiles like a vendor's are legal, of its size, and of several families") {
  const auto spaces = hopper_spaces(make_problem({1000, 1000, 1000}, DataType::bf16));
  const auto found = tiles_like(spaces, {64, 144, 4, 1, 1}, 4);
  REQUIRE(found.size() > 1);
  double cost = 0;
  for (const LikeVendor& like : found) {
    const size_t space = like.space;
    const TileConfig& tile = like.tile;
    CAPTURE(to_string(tile));
    REQUIRE(space == kTmaSpace);
    CHECK(tile.tile_m == 64);
    CHECK(tile.tile_n == 144);
    CHECK(tile.cluster_m == 4);
    CHECK(tile.cluster_n == 1);
    CHECK(spaces[space].legal(tile));
    CHECK(spaces[space].space.holds(tile));
    CHECK(spaces[space].cost(tile) >= cost);
    cost = spaces[space].cost(tile);
  }
  CHECK(tiles_like(spaces, {64, 144, 4, 1, 1}, 1).size() == 1);
}

TEST_CASE("tiles for many waves are gone through by as many blocks as the card runs at once") {
  const auto spaces =
      hopper_spaces(make_problem({2048, 32000, 4096}, DataType::bf16, *parse_layout("tnt")));
  const auto found = tiles_like(spaces, {128, 176, 2, 1, 1}, 4);
  REQUIRE(found.size() > 1);
  bool ping_pong = false;
  for (const LikeVendor& like : found) {
    CAPTURE(to_string(like.tile));
    CHECK(like.tile.persistent_blocks == 132);
    CHECK(like.tile.stages > 2);
    ping_pong |= like.tile.schedule != 0;
  }
  CHECK(ping_pong);
}

TEST_CASE("a narrow side is exchanged, and a split goes to the strategy that splits") {
  const auto spaces = hopper_spaces(make_problem({8, 1024, 4096}, DataType::bf16));
  const auto narrow = tiles_like(spaces, {8, 64, 1, 2, 1}, 4);
  REQUIRE(!narrow.empty());
  for (const auto& [space, tile] : narrow) {
    CHECK(space == kTmaSpace);
    CHECK(tile.exchange == 1);
  }
  const auto split = tiles_like(spaces, {8, 64, 1, 4, 3}, 4);
  REQUIRE(!split.empty());
  for (const auto& [space, tile] : split) {
    CHECK(space == kSplitKSpace);
    CHECK(tile.slices == 3);
  }
}

TEST_CASE("a cluster that is not to be had is left out, a size that is not gives nothing") {
  const auto spaces = hopper_spaces(make_problem({1000, 1000, 1000}, DataType::bf16));
  const auto other_cluster = tiles_like(spaces, {128, 128, 1, 7, 1}, 4);
  REQUIRE(!other_cluster.empty());
  for (const auto& like : other_cluster) CHECK(like.tile.tile_n == 128);
  CHECK(tiles_like(spaces, {128, 888, 1, 1, 1}, 4).empty());
  CHECK(tiles_like(spaces, {64, 64, 1, 1, 15}, 4).empty());
  CHECK(tiles_like({}, {64, 64, 1, 1, 1}, 4).empty());
}

}  // namespace
}  // namespace gemmtune::tuner
