#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gemmtune::vendor {

// Readable forms of the ids in a cuBLASLt algorithm: "128x256", "64x4" (depth x count), "2x1x1".
// 0 is "auto"; an id without a known name is "#712".
std::string tile_name(int id);
std::string stages_name(int id);
std::string cluster_name(int id);

// A stored config is "rank=3 algo=21 tile=...": this is the part that MatmulPlan::describe() gives.
// The rank is the place in the heuristic's order, which another version of cuBLASLt, or another
// limit on the workspace, changes.
std::string_view without_rank(std::string_view config);

// What such a config says of the tile, for a row-major C.
struct AlgorithmTile {
  int tile_m = 0;
  int tile_n = 0;
  int cluster_m = 1;  // blocks
  int cluster_n = 1;
  int slices = 1;  // of k

  bool operator==(const AlgorithmTile&) const = default;
};

// Of "rank=3 algo=66 tile=144x64 stages=64xauto cluster=1x4x1 splitk=1 ...", whose first sizes are
// those of columns, since cuBLASLt computes a row-major C as its transpose. Nothing without a tile.
std::optional<AlgorithmTile> algorithm_tile(std::string_view config);

}  // namespace gemmtune::vendor
