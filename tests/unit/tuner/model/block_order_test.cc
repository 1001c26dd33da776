#include "tuner/model/block_order.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>

#include "parts/shared/raster.h"

namespace gemmtune::tuner {
namespace {

TileConfig tile_of(int m, int n) {
  TileConfig tile;
  tile.tile_m = m;
  tile.tile_n = n;
  return tile;
}

// Rows and columns that blocks `first` to `first` + 15 read together, counted.
double counted(const TileConfig& tile, int rows, int columns, int raster, int first) {
  std::set<int> read_rows;
  std::set<int> read_columns;
  for (int block = first; block < first + 16; ++block) {
    const TileCoordinates at = tile_coordinates<1, 1>(rows, columns, block, raster);
    read_rows.insert(at.row);
    read_columns.insert(at.column);
  }
  return static_cast<double>(read_rows.size()) * tile.tile_m +
         static_cast<double>(read_columns.size()) * tile.tile_n;
}

TEST_CASE("what blocks side by side read is counted as their order has it") {
  std::mt19937 random(1);
  const auto one_of = [&](const std::array<int, 4>& values) { return values[random() % 4]; };
  for (int i = 0; i < 200; ++i) {
    const TileConfig tile = tile_of(one_of({64, 128, 192, 256}), one_of({32, 64, 96, 128}));
    const int raster = one_of({1, 2, 4, 8});
    const int rows = 8 * one_of({1, 2, 3, 4});
    const int columns = 16 * one_of({1, 2, 3, 4});
    const Shape shape = {int64_t{rows} * tile.tile_m - 5, int64_t{columns} * tile.tile_n - 5, 100};
    CAPTURE(raster);
    for (const int first : {0, 16, 64}) {
      CHECK(lines_read_together(tile, shape, raster) ==
            doctest::Approx(counted(tile, rows, columns, raster, first)));
    }
  }
}

TEST_CASE(
    "the raster that reads least is that of the squarest patch, and was measured to be fast") {
  constexpr std::array kRasters = {1, 4, 8, 16};
  const auto raster = [&](int tile_m, int tile_n, Shape shape) {
    return least_reading_raster(tile_of(tile_m, tile_n), shape, kRasters);
  };
  // H100, us with rasters 1, 4, 8, 16: 46.2, 26.9, 27.0, 26.9
  CHECK(raster(64, 128, {512, 2048, 8192}) == 4);
  // 221, 160, 156, 155
  CHECK(raster(128, 160, {2048, 8960, 3328}) == 4);
  // 17.3, 17.3, 18.9, 21.7: four columns of tiles
  CHECK(raster(128, 144, {3840, 544, 1184}) == 1);
  // mma_split_k with 1 and 8: 15.2 and 12.7, two rows of tiles; 8.13 and 8.20, one
  CHECK(raster(16, 32, {32, 2112, 7168}) > 1);
  CHECK(raster(16, 32, {8, 576, 7168}) == 1);
}

TEST_CASE("slices of one tile side by side leave room for fewer tiles") {
  TileConfig tile = tile_of(32, 64);
  CHECK(lines_read_together(tile, {256, 4096, 8192}, 1) == 1 * 32 + 16 * 64);
  CHECK(lines_read_together(tile, {256, 4096, 8192}, 1, 4) == 1 * 32 + 4 * 64);
  CHECK(lines_read_together(tile, {256, 4096, 8192}, 1, 33) == 1 * 32 + 1 * 64);
}

}  // namespace
}  // namespace gemmtune::tuner
