#include "tuner/model/warpgroup_model.h"

#include <cmath>

#include "codegen/tiling.h"
#include "codegen/wgmma_rules.h"
#include "tuner/model/block_order.h"

namespace gemmtune::tuner {
namespace {

constexpr double kL2BytesPerCycle = 64;  // into an SM, measured on an H200
constexpr double kSharpness = 4;         // of an overlap
constexpr double kResultsPerCycle = 32;

}  // namespace

bool by_warpgroups(const codegen::MainloopCost& loop) {
  return loop.path == codegen::OperandPath::warpgroup_tiles;
}

double tile_transfer_cycles(const codegen::KernelSpec& spec, const codegen::MainloopCost& loop) {
  const TileConfig& t = spec.tile;
  const double bytes = static_cast<double>(t.tile_m + t.tile_n) * loop.step_depth *
                       codegen::wgmma::loaded_bytes_of_product(spec);
  return bytes / kL2BytesPerCycle;
}

double with_late_copies(double busy, double waiting) {
  return std::pow(std::pow(busy, kSharpness) + std::pow(waiting, kSharpness), 1 / kSharpness);
}

// An H100's or H200's groups have 16 or 18 SMs, of which some are off.
double reachable_share(const TileConfig& tile) {
  const int blocks = codegen::tiling::blocks_of_cluster(tile);
  if (blocks > 4) return 0.91;
  return blocks > 2 ? 0.94 : 1;
}

double store_cycles(const TileConfig& tile) {
  const bool hidden = tile.schedule == kPingPong && tile.persistent_blocks > 0;
  return hidden ? 0 : static_cast<double>(tile.tile_m) * tile.tile_n / kResultsPerCycle;
}

}  // namespace gemmtune::tuner
