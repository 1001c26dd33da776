#include "core/tile_config.h"

#include <doctest/doctest.h>

#include <climits>
#include <random>
#include <set>
#include <string>

namespace gemmtune {
namespace {

TEST_CASE("tile: fields have distinct names and members, and are found by name") {
  std::set<std::string_view> names;
  TileConfig tile;
  int value = 0;
  for (const TileField& field : tile_fields()) {
    CHECK(names.insert(field.name).second);
    CHECK(find_tile_field(field.name)->member == field.member);
    CHECK(tile.*(field.member) == 0);  // else a member stands twice
    tile.*(field.member) = ++value;
  }
  CHECK(names.size() * sizeof(int) == sizeof(TileConfig));
  CHECK(find_tile_field("tile") == nullptr);
  CHECK(find_tile_field("") == nullptr);
}

TEST_CASE("tile: texts round-trip") {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    TileConfig tile;
    for (const TileField& field : tile_fields()) {
      switch (random() % 4) {
        case 0:
          tile.*(field.member) = static_cast<int>(random() % 512);
          break;
        case 1:
          tile.*(field.member) = static_cast<int>(random());
          break;
        default:
          break;
      }
    }
    REQUIRE(parse_tile(to_string(tile)) == tile);
  }
  TileConfig tile;
  CHECK(to_string(tile).empty());
  CHECK(parse_tile("") == tile);
  tile.tile_m = 128;
  tile.raster = INT_MIN;
  CHECK(to_string(tile) == "tile_m=128 raster=-2147483648");
  CHECK(parse_tile("raster=-2147483648 tile_m=128") == tile);  // the order is free
}

TEST_CASE("tile: texts that are none") {
  for (const char* bad :
       {" ", "tile_m", "tile_m=", "=1", "tile_m=x", "tile_m=1x", "tile_m=1,tile_n=2", " tile_m=1",
        "tile_m=1 ", "tile_m=1  tile_n=2", "tile_m = 1", "tile_m=99999999999", "tile_x=1",
        "tile_m=1 tile_m=2", "tile_m=1 tile_m=1", "rank=0", "tile_m=+1", "tile_m=1.0"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_tile(bad));
  }
}

}  // namespace
}  // namespace gemmtune
