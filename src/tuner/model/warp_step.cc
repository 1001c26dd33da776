#include "tuner/model/warp_step.h"

#include <algorithm>

#include "codegen/strategy.h"
#include "core/arch.h"

namespace gemmtune::tuner {
namespace {

using codegen::MainloopCost;
using codegen::OperandPath;

constexpr double kVector = 4;  // floats of a 16-byte access
constexpr double kBarrierSlots = 8;
constexpr double kGuardSlots = 4;    // comparing one element with the matrix's edges
constexpr double kPointerSlots = 2;  // a 64-bit step

// The thread tiles of a warp: lanes_m x lanes_n of them. Without warp tiles a warp takes as many
// side by side as the block tile has.
struct Lanes {
  double thread_m;
  double thread_n;
  double m;
  double n;
};

Lanes lanes_of(const TileConfig& t, const MainloopCost& loop) {
  const double thread_m = loop.result_rows;
  const double thread_n = loop.result_columns;
  if (loop.path == OperandPath::warp_tiles)
    return {thread_m, thread_n, t.warp_m / thread_m, t.warp_n / thread_n};
  const double n = std::clamp(t.tile_n / thread_n, 1.0, double{kWarpSize});
  return {thread_m, thread_n, kWarpSize / n, n};
}

// Wavefronts of reading `count` neighbouring floats in each of `lanes` thread tiles that lie
// `stride` floats apart: as many as the lanes span banks, since what lies between is not read.
double strided_waves(double count, double width, double lanes, double stride) {
  return count / width * std::max(1.0, lanes * stride / kWarpSize);
}

// Slots of copying an element of an operand, in vectors that are transposed or not.
double copy_slots(double vector, bool transposed) {
  return 2.0 / vector + (transposed ? 1.0 : 1.0 / vector);
}

// Warp tiles: subtiles of one vector a side, those of neighbouring lanes next to each other (an
// iteration of more than one vector leaves gaps, which is not modelled).
WarpStep warp_tiled(const TileConfig& t, const Lanes& lanes) {
  // A 16-byte read of a warp moves its distinct vectors, 128 bytes a wavefront, at least one.
  const double merged =
      t.lanes == kLanesInterleaved ? 1.0 : 1.5;  // rows of lanes that straddle phases
  const double waves = merged * (lanes.thread_m / kVector * std::max(1.0, lanes.m / 8) +
                                 lanes.thread_n / kVector * std::max(1.0, lanes.n / 8));
  return {0, (lanes.thread_m + lanes.thread_n) / kVector, waves};
}

// Operands straight from global memory: A is one word per row, B one per column, in L1 mostly.
WarpStep unshared(const KernelTraits& traits, const Lanes& lanes) {
  const double waves_a = traits.a_row_major ? lanes.m : 1.0;
  const double waves_b = traits.b_row_major ? 1.0 : lanes.n;
  return {0, 2 + kPointerSlots, waves_a + waves_b};
}

// Thread tiles straight in the block tile. Without `vector`, A lies as [m][k] in shared memory; the
// compiler reads both operands in vectors where their words are neighbours: A's along k.
WarpStep block_tiled(const TileConfig& t, const MainloopCost& loop, const Lanes& lanes) {
  const bool transposed = loop.path == OperandPath::shared_vectors;
  const double width_m = transposed ? t.vector : (t.tile_k % 4 == 0 ? kVector : 1.0);
  const double width_n = transposed ? t.vector : (loop.result_columns % 4 == 0 ? kVector : 1.0);
  const double stride_m =
      transposed ? lanes.thread_m : std::min(double{kWarpSize}, lanes.thread_m * t.tile_k);
  const double waves = strided_waves(lanes.thread_m, width_m, lanes.m, stride_m) +
                       strided_waves(lanes.thread_n, width_n, lanes.n, lanes.thread_n);
  return {0, lanes.thread_m / width_m + lanes.thread_n / width_n, waves};
}

}  // namespace

WarpStep warp_step(const codegen::KernelSpec& spec, const MainloopCost& loop) {
  const TileConfig& t = spec.tile;
  const KernelTraits& traits = spec.traits;
  const Lanes lanes = lanes_of(t, loop);
  // Those that share the copies of a tile.
  const double threads = static_cast<double>(spec.strategy->threads(t)) / loop.groups;
  const double elements_a = t.tile_m / threads;  // copied by a thread, per k
  const double elements_b = t.tile_n / threads;
  WarpStep step;
  switch (loop.path) {
    case OperandPath::global:
    case OperandPath::streamed:
      step = unshared(traits, lanes);
      break;
    case OperandPath::shared_words:
      step = block_tiled(t, loop, lanes);
      step.other += (elements_a + elements_b) * (copy_slots(1, true) + kGuardSlots);
      break;
    case OperandPath::shared_vectors:
    case OperandPath::warp_tiles:
    case OperandPath::warpgroup_tiles:  // of tensor cores, which are counted otherwise
      step =
          loop.path == OperandPath::warp_tiles ? warp_tiled(t, lanes) : block_tiled(t, loop, lanes);
      // A global load and its pointer step per vector; transposed operands store one word at a
      // time.
      step.other += elements_a * copy_slots(loop.load_a, traits.a_row_major) +
                    elements_b * copy_slots(loop.load_b, !traits.b_row_major);
      break;
  }
  if (loop.step_depth > 0) {
    step.other += kBarrierSlots / loop.step_depth;
    step.smem_wavefronts += elements_a + elements_b;
  }
  step.ffma = lanes.thread_m * lanes.thread_n;
  return step;
}

}  // namespace gemmtune::tuner
