#include "tuner/model/streaming_model.h"

#include <algorithm>
#include <cmath>

#include "codegen/skinny_strategy.h"

namespace gemmtune::tuner {
namespace {

constexpr double kNextKernelUs =
    1.5;                            // between two kernels of a graph, with the first load's latency
constexpr double kLatencyUs = 0.9;  // of a global load under load, order of magnitude
constexpr double kFfmaRate = 0.85;  // share of the issue slots that register banks leave
constexpr double kSchedulers = 4;   // an SM
constexpr double kClusterUs = 1.0;  // barriers and remote reads, order of magnitude
constexpr double kAtomicUs = 1.5;
constexpr double kResultBytesPerCycle = 128;
constexpr double kLoadsInFlight = 8;  // of a thread that fills a slab through registers

double ceil_ratio(double a, double b) {
  return std::ceil(a / b);
}

// Chunks of the long operand that a thread has in flight, on average.
double chunks_in_flight(const TileConfig& t) {
  if (t.copy == kCopyAsync) return t.stages - 1;
  return t.fragments == 2 ? 1.0 : 0.5;
}

// Issue slots of a warp for one value of its k: multiplications, then loads of both operands.
double slots_per_k(const codegen::skinny_gemm::Geometry& g, const TileConfig& t) {
  const double results = static_cast<double>(g.short_side) * g.thread_long;
  const double short_reads = std::max(1.0, g.short_side / 4.0);
  const double long_reads =
      (t.copy == kCopyAsync ? 3.0 : 1.5) * std::max(1, g.thread_long / g.long_vector);
  return results / kFfmaRate + short_reads + long_reads + 8.0 / t.unroll;
}

// From the warps' sums to C.
double reduction_us(const codegen::skinny_gemm::Geometry& g, const codegen::KernelSpec& spec,
                    const Problem& problem, const DeviceSpec& device, double blocks_per_sm) {
  const TileConfig& t = spec.tile;
  const double block_bytes = 4.0 * g.short_side * g.long_side * std::max(1, t.warps - 1);
  const double rounds = std::log2(std::max(2, t.warps));
  double us = 0.1 * rounds +
              2 * blocks_per_sm * block_bytes / kResultBytesPerCycle / device.boost_clock_mhz;
  if (t.slices <= 1) return us;
  const double sums = 4.0 * static_cast<double>(problem.shape.m) *
                      static_cast<double>(problem.shape.n) * static_cast<double>(problem.batch) *
                      t.slices;
  us += 2 * sums / (device.memory_gb_per_s * 1e3);
  if (t.reduction == kReduceCluster) return us + kClusterUs;
  return us + (t.reduction == kReduceAtomic ? kAtomicUs : kNextKernelUs);
}

}  // namespace

void predict_streaming(const codegen::KernelSpec& spec, const Problem& problem,
                       const DeviceSpec& device, const codegen::KernelWork& work, Prediction& out) {
  const TileConfig& t = spec.tile;
  const codegen::skinny_gemm::Geometry g(spec);
  const double cycles_per_us = device.boost_clock_mhz;
  const double resident = out.occupancy.blocks_per_sm;
  const auto blocks = static_cast<double>(work.blocks);
  const double blocks_per_sm = ceil_ratio(blocks, device.sm_count);  // of the busiest
  const double at_once = std::min(resident, blocks_per_sm);
  const auto depth = static_cast<double>(work.block_depth);

  const double threads = spec.strategy->threads(t);
  const double in_flight = at_once * threads * 4.0 * t.unroll * g.thread_long * chunks_in_flight(t);
  const double peak = device.memory_gb_per_s * 1e3 / device.sm_count;  // bytes a us
  const double rate = std::min(peak, in_flight / kLatencyUs);
  out.memory_us = blocks_per_sm * 4.0 * g.long_side * depth / rate;

  const double steps = ceil_ratio(depth, static_cast<double>(t.warps) * g.lanes_k);  // per warp
  const double warps = at_once * t.warps;
  const double hidden = warps / (warps + kSchedulers);
  out.arithmetic_us =
      blocks_per_sm * t.warps * steps * slots_per_k(g, t) / kSchedulers / cycles_per_us / hidden;
  out.smem_us = 0;

  double fill_us = 0;
  if (t.tile_k > 0) {  // the short operand through shared memory
    const double words = static_cast<double>(g.short_side) * t.tile_k / threads;
    const double waits = t.copy == kCopyAsync ? 1.0 : std::max(1.0, words / 4 / kLoadsInFlight);
    const double slabs = ceil_ratio(depth, t.tile_k);
    fill_us = slabs * kLatencyUs * waits * ceil_ratio(blocks_per_sm, resident) +
              blocks_per_sm * slabs * words * t.warps * 2 / kSchedulers / cycles_per_us;
  }
  out.total_us = std::max(out.arithmetic_us, out.memory_us) + fill_us + kNextKernelUs +
                 reduction_us(g, spec, problem, device, blocks_per_sm);
}

// Every SM streams its share at the full rate, and multiplies it meanwhile.
double least_streaming_us(const codegen::KernelSpec& spec, const Problem& problem,
                          const DeviceSpec& device, double tiles_of_sm, double warps) {
  constexpr int kLargestUnroll = 1 << 12;
  codegen::KernelSpec unrolled = spec;
  unrolled.tile.unroll = kLargestUnroll;
  const codegen::skinny_gemm::Geometry g(unrolled);
  const auto depth = static_cast<double>(problem.shape.k);
  const double peak = device.memory_gb_per_s * 1e3 / device.sm_count;
  const double memory_us = tiles_of_sm * 4.0 * g.long_side * depth / peak;
  const double hidden = warps / (warps + kSchedulers);
  const double arithmetic_us = tiles_of_sm * depth / g.lanes_k * slots_per_k(g, unrolled.tile) /
                               kSchedulers / device.boost_clock_mhz / hidden;
  return std::max(memory_us, arithmetic_us) + kNextKernelUs;
}

}  // namespace gemmtune::tuner
