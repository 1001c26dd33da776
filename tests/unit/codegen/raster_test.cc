#include "parts/shared/raster.h"

#include <doctest/doctest.h>

#include <climits>
#include <cstddef>
#include <set>
#include <tuple>

namespace gemmtune {
namespace {

TEST_CASE("a raster goes through every tile of every batch entry once, group by group") {
  for (int rows = 1; rows <= 7; ++rows) {
    for (int columns = 1; columns <= 5; ++columns) {
      for (int raster = 0; raster <= 9; ++raster) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(raster);
        const int group = raster < 1 ? 1 : raster;
        std::set<std::tuple<int, int, int>> seen;
        int reached = 0;  // groups of rows
        for (int block = 0; block < 3 * rows * columns; ++block) {
          // The last row and column of tiles are cut.
          const auto at = tile_coordinates<16, 8>(rows * 16 - 3, columns * 8 - 7, block, raster);
          CHECK(at.batch == block / (rows * columns));
          CHECK(at.row < rows);
          CHECK(at.column < columns);
          if (block % (rows * columns) == 0) reached = 0;
          CHECK(at.row / group >= reached);
          reached = at.row / group;
          seen.insert({at.batch, at.row, at.column});
        }
        CHECK(seen.size() == static_cast<std::size_t>(3 * rows * columns));
      }
    }
  }
}

TEST_CASE("a group of more rows than C has is all of them, however long C is") {
  const auto at = tile_coordinates<64, 8>(64, INT_MAX - 7, 200000000, 32);
  CHECK(at.row == 0);
  CHECK(at.column == 200000000);
}

}  // namespace
}  // namespace gemmtune
