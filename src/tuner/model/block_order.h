#pragma once

#include <span>

#include "core/problem.h"
#include "core/tile_config.h"

// In which order the blocks of a kernel take the tiles of C (parts/shared/raster.h).
//
// An H100 puts 16 consecutive blocks of a launch without clusters on the SMs of one group (GPC), as
// %smid shows, and L2 answers once what several SMs of a group ask for at about the same time. So
// the fewer rows of A and columns of B such blocks read together, the less L2 sends:
//
//     of 8 columns of tiles, raster 1: 2 x 8 of them, which read 10 lines of tiles
//                            raster 4: 4 x 4 of them, which read 8
//
// Clusters are dealt out to the groups in turns instead, so that neighbours share little.

namespace gemmtune::tuner {

// Rows of A and columns of B, in elements, that blocks side by side read together of a product of
// `shape` in tiles of `tile`, with `raster`. Each tile takes `blocks_of_tile` of these blocks.
double lines_read_together(const TileConfig& tile, const Shape& shape, int raster,
                           int blocks_of_tile = 1);

// That of `rasters`, which are not empty, with which the fewest are; the first of equals.
int least_reading_raster(const TileConfig& tile, const Shape& shape, std::span<const int> rasters,
                         int blocks_of_tile = 1);

}  // namespace gemmtune::tuner
