#pragma once

#include <string>

namespace gemmtune::vendor {

// Readable forms of the ids in a cuBLASLt algorithm: "128x256", "64x4" (depth x count), "2x1x1".
// 0 is "auto"; an id without a known name is "#712".
std::string tile_name(int id);
std::string stages_name(int id);
std::string cluster_name(int id);

}  // namespace gemmtune::vendor
