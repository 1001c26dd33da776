#include "tuner/model/tensor_model.h"

#include <algorithm>
#include <cmath>

#include "codegen/mma_rules.h"
#include "codegen/strategy.h"
#include "codegen/wgmma_rules.h"
#include "core/tensor_rate.h"
#include "tuner/model/warpgroup_model.h"

#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::tuner {
namespace {

using codegen::MainloopCost;

constexpr double kTensorSchedulers = 4;  // per SM
constexpr double kBankBytes = 128;       // a cycle
constexpr double kStepBytes = 32;        // k of one mma, of an operand's line
// Map of the tensor cores' rate that mma.sync reaches where wgmma is needed for all of it.
constexpr double kHopperShare = 0.62;
constexpr int kHopper = 90;
// Slots of one copy: itself, two comparisons, a share of the pointer's step; through registers also
// a store; of a pair that has no 4-byte access also a second load and the packing.
constexpr double kCopySlots = 4;
constexpr double kStagedCopySlots = 5;
constexpr double kRegisterCopySlots = 10;
constexpr double kTileBarrierSlots = 12;  // a tile
// How sharply the slowest of several overlapping streams decides: a choice, not measured.
constexpr double kOverlap = 4;
constexpr double kMmaLatencyCycles = 33;
// Share of the tensor cores' rate that wgmma kernels reach in their main loops: the clock falls
// under the power cap. Of 989 TFLOP/s, 700 to 780 were measured on an H200.
constexpr double kWarpgroupRate = 0.75;
// Of an f32 operand's element in a fragment: cvt.rna.tf32 (on sm_90 an add, a compare, a select and
// a mask), or a mask and a subtraction (mma_products.cuh).
constexpr double kRoundSlots = 4;
constexpr double kSplitSlots = 2;
constexpr double kSumsOfLane = 4;           // of an mma
constexpr double kAdditionsPerCycle = 128;  // of f32, of an SM

// mmas of a warp for one k step.
double mmas_of_step(const MainloopCost& loop) {
  return loop.result_rows / 16.0 * loop.result_columns / 8.0;
}

// Multiply-adds of an SM in a cycle.
double tensor_rate(const codegen::KernelSpec& spec, const DeviceSpec& device) {
  const double peak = tensor_tflops(spec.type, spec.math, device) * 1e6 /
                      (2.0 * device.sm_count * device.boost_clock_mhz);
  return std::max(1.0, peak);
}
double mma_rate(const codegen::KernelSpec& spec, const DeviceSpec& device) {
  return tensor_rate(spec, device) * (device.arch.number() >= kHopper ? kHopperShare : 1.0);
}

double overlapped(double a, double b, double c) {
  return std::pow(std::pow(a, kOverlap) + std::pow(b, kOverlap) + std::pow(c, kOverlap),
                  1 / kOverlap);
}

// Of wgmma: TMA writes each tile once, each 64 rows read both operands. What threads load passes
// through L1, which is the same memory, once more. Its instructions and the copies' are few.
TensorCost warpgroup_cost(const codegen::KernelSpec& spec, const MainloopCost& loop,
                          const DeviceSpec& device) {
  const TileConfig& t = spec.tile;
  const double element = codegen::wgmma::operand_bytes_of_product(spec);
  const double loaded = codegen::wgmma::loaded_bytes_of_product(spec);
  const double results = static_cast<double>(t.tile_m) * t.tile_n;
  const double read = results * (1.0 / kWgmmaRows + 1.0 / loop.result_columns) * element;
  const double written = (t.tile_m + t.tile_n + loop.direct_lines) * loaded;
  const double smem = (read + written) / kBankBytes;
  const double promotion_depth = static_cast<double>(loop.promotion_steps) * loop.step_depth;
  const double promoted = promotion_depth > 0 ? results / kAdditionsPerCycle / promotion_depth : 0;
  return {overlapped(results / tensor_rate(spec, device), smem, 0) + promoted, smem};
}

// Warp instructions that an mma's worth of products takes: the mma (three of them for 3xtf32), what
// prepares the fragments, and the additions outside the tensor cores.
double slots_per_product(MathMode math, const MainloopCost& loop) {
  const double products = mmas_of_step(loop);
  const double elements =
      (loop.result_rows + loop.result_columns) / 4.0;  // of a lane, in the fragments of k = 8
  switch (math) {
    case MathMode::tf32:
      return 1 + kRoundSlots * elements / products;
    case MathMode::tf32x3:
      return 3 + kSumsOfLane / std::max(1, loop.promotion_steps) +
             kSplitSlots * elements / products;
    case MathMode::ieee:
    case MathMode::f16:
    case MathMode::bf16x6:
    case MathMode::bf16x9:
    case MathMode::fast_accum:
      break;
  }
  return 1;
}

// Slots of copying a line's worth of elements, per value of k and over the block.
double copy_slots(int tile_mn, int vector, DataType type, bool register_staged) {
  if (register_staged) return kStagedCopySlots * tile_mn / vector;
  return vector > 1 || type == DataType::f32 ? kCopySlots * tile_mn / vector
                                             : kRegisterCopySlots * tile_mn / 2;
}

}  // namespace

TensorCost tensor_cost(const codegen::KernelSpec& spec, const MainloopCost& loop,
                       const DeviceSpec& device) {
  if (by_warpgroups(loop)) return warpgroup_cost(spec, loop, device);
  const TileConfig& t = spec.tile;
  const double warps = spec.strategy->threads(t) / 32.0;
  const double element = size_bytes(codegen::mma::shared_type(spec));
  // Each multiplies the block's tile over its own part of k.
  const double groups = loop.groups;
  const double mma = groups * t.tile_m * t.tile_n / mma_rate(spec, device);
  const double read = warps * (loop.result_rows + loop.result_columns) * element;
  const double written = groups * (t.tile_m + t.tile_n) * element;
  const double smem = (read + written) / kBankBytes;
  // Warp instructions of the block: mma, ldmatrix, copies, barriers.
  const double step = kStepBytes / element;
  const double multiply = warps * mmas_of_step(loop) / step * slots_per_product(spec.math, loop);
  const double fragments = warps * (loop.result_rows + loop.result_columns) / 16.0 / step;
  const double copies = groups *
                        (copy_slots(t.tile_m, loop.load_a, spec.type, loop.register_staged) +
                         copy_slots(t.tile_n, loop.load_b, spec.type, loop.register_staged)) /
                        32.0;
  const double barriers = warps * kTileBarrierSlots / std::max(1, loop.step_depth);
  const double issue = (multiply + fragments + copies + barriers) / kTensorSchedulers;
  return {overlapped(mma, smem, issue), smem};
}

double tensor_latency_hiding(const codegen::KernelSpec& spec, const MainloopCost& loop,
                             double warps) {
  if (by_warpgroups(loop)) return kWarpgroupRate;
  // Independent mma of a warp between one fragment load and the next.
  const double independent = mmas_of_step(loop);
  const double buffered = spec.tile.fragments == 2 ? 2.0 : 1.0;
  const double stages = loop.steps_ahead > 1 ? 1.2 : 1.0;
  const double x = warps / kTensorSchedulers * independent * buffered * stages / kMmaLatencyCycles;
  return x / (x + 0.15);
}

}  // namespace gemmtune::tuner
