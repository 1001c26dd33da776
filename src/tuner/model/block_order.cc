#include "tuner/model/block_order.h"

#include <algorithm>
#include <cmath>

namespace gemmtune::tuner {
namespace {

constexpr double kBlocksSideBySide = 16;

double tiles_along(int64_t length, int tile) {
  return std::ceil(static_cast<double>(length) / tile);
}

}  // namespace

double lines_read_together(const TileConfig& tile, const Shape& shape, int raster,
                           int blocks_of_tile) {
  const double rows = tiles_along(shape.m, tile.tile_m);
  const double columns = tiles_along(shape.n, tile.tile_n);
  const double blocks = std::clamp(kBlocksSideBySide / blocks_of_tile, 1.0, rows * columns);
  // Blocks run along the patch's `height` rows first, and then on to its next columns.
  const double height = std::min<double>(std::max(1, raster), rows);
  const double high = std::min(height, blocks);
  const double wide = std::min(blocks / high, columns);
  return std::max(high, blocks / wide) * tile.tile_m + wide * tile.tile_n;
}

int least_reading_raster(const TileConfig& tile, const Shape& shape, std::span<const int> rasters,
                         int blocks_of_tile) {
  return *std::min_element(rasters.begin(), rasters.end(), [&](int a, int b) {
    return std::lround(lines_read_together(tile, shape, a, blocks_of_tile)) <
           std::lround(lines_read_together(tile, shape, b, blocks_of_tile));
  });
}

}  // namespace gemmtune::tuner
