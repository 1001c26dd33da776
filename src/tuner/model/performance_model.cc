#include "tuner/model/performance_model.h"

#include <algorithm>
#include <cmath>

#include "codegen/strategy.h"
#include "codegen/tiling.h"
#include "core/arch.h"
#include "tuner/model/streaming_model.h"
#include "tuner/model/tensor_model.h"
#include "tuner/model/warp_step.h"
#include "tuner/model/warpgroup_model.h"

namespace gemmtune::tuner {
namespace {

using codegen::Arithmetic;
using codegen::MainloopCost;
using codegen::OperandPath;

constexpr int kWarpRegisterUnit = 256;
constexpr int kSmemUnit = 128;  // bytes; granularity of shared-memory allocation
constexpr int kSchedulersPerSm = 4;
constexpr double kSmemBytesPerCycle = 128;
constexpr double kLaunchUs = 2.8;             // back-to-back launches, measured on an H200
constexpr double kMemoryLatencyCycles = 700;  // global load to use, measured order of magnitude
// Of blocks that add other blocks' sums, fitted to 6,900 candidates of wgmma_stream_k on H200s.
constexpr double kHandingUs = 1;
constexpr double kHandedBytesPerCycle = 44;
constexpr double kL2Speedup = 2;  // L2 over DRAM bandwidth, order of magnitude
// Share of the FFMA issue slots that register-bank conflicts leave, measured on an H200 with
// register-only loops: row order 48.5, serpentine 58.2 of 66.9 TFLOP/s.
constexpr double kRowOrderRate = 0.73;
constexpr double kSerpentineRate = 0.88;
constexpr double kFfmaLatencyCycles = 4;
// Of its issue rate that a thread tile keeps which comes to each barrier with nothing left to
// multiply. Measured on an H200: of kernels alike but in `ahead`, those with it take 0.89 of the
// time (3399 of multistage, 22 problems).
constexpr double kRateWithoutAhead = 0.89;

int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

// How much of an SM's issue rate the latencies leave that each of `warps` resident warps has to
// wait out: those of shared-memory reads and barriers, which other warps or a large thread tile
// cover.
double covered_share(const codegen::KernelSpec& spec, const MainloopCost& loop, double warps) {
  if (loop.arithmetic == Arithmetic::tensor_core) return tensor_latency_hiding(spec, loop, warps);
  const TileConfig& t = spec.tile;
  // FFMAs between dependent ones.
  const double independent = static_cast<double>(loop.result_rows) * loop.result_columns;
  const double covered = warps / kSchedulersPerSm * independent / kFfmaLatencyCycles;
  const double buffered = t.fragments == 2 ? 1.5 : 1.0;
  const double x = buffered * covered / 16.0;
  const double ahead = t.ahead == 0 && loop.step_depth > 0 ? kRateWithoutAhead : 1.0;
  return ahead * x / (x + 0.15);
}

// How much of it they can use: a warp stays with one scheduler, its lanes and its tensor core.
double latency_hiding(const codegen::KernelSpec& spec, const MainloopCost& loop, double warps) {
  return std::min(covered_share(spec, loop, warps), warps / kSchedulersPerSm);
}

struct BlockCost {
  double issue_cycles;  // of an SM's four schedulers together
  double smem_cycles;
};

BlockCost block_cost(const codegen::KernelSpec& spec, const MainloopCost& loop,
                     const DeviceSpec& device, double k) {
  if (loop.arithmetic == Arithmetic::tensor_core) {
    const TensorCost cost = tensor_cost(spec, loop, device);
    return {cost.busy * k, cost.smem * k};
  }
  const WarpStep step = warp_step(spec, loop);
  const double warps = spec.strategy->threads(spec.tile) / 32.0;
  const double ffma_per_cycle = device.fp32_lanes_per_sm / 32.0;  // warp instructions
  const double rate = spec.tile.order == kOrderRowMajor ? kRowOrderRate : kSerpentineRate;
  // 64-lane SMs issue other work in the slots that FFMAs leave; 128-lane SMs do not.
  const double hidden = ffma_per_cycle < kSchedulersPerSm ? 0.5 : 1.0;
  const double issue = step.ffma / rate / ffma_per_cycle + hidden * step.other / kSchedulersPerSm;
  return {issue * warps * k, step.smem_wavefronts * warps * k};
}

// Cycles that `blocks` resident blocks wait for the loads of their k tiles at least, but for the
// first, which are part of the pipeline's fill: with so many tiles on their way, one arrives in
// that part of a load's time. By Little's law that limits the bandwidth of few blocks, and of
// blocks with few bytes in flight.
double latency_cycles(const codegen::KernelSpec& spec, const MainloopCost& loop, double k,
                      double blocks) {
  if (loop.step_depth == 0) return 0;
  const double steps = std::ceil(k / loop.step_depth);
  if (loop.steps_ahead == 0) return steps * kMemoryLatencyCycles;
  const double turns = std::max(0.0, steps / loop.steps_ahead - 1);
  if (!by_warpgroups(loop)) return turns * kMemoryLatencyCycles;
  const double transfer = blocks * tile_transfer_cycles(spec, loop);
  return std::max(steps * transfer, turns * (kTensorCopyLatencyCycles + transfer));
}

// Factor by which waiting for global loads stretches `blocks` resident blocks that do not copy the
// next k tile while they multiply this one: each tile waits out a load, during which only the other
// blocks work.
double exposure(const codegen::KernelSpec& spec, const MainloopCost& loop, const BlockCost& cost,
                double k, double blocks) {
  if (loop.step_depth == 0 || loop.steps_ahead > 0) return 1.0;
  const double busy = std::max(cost.issue_cycles, cost.smem_cycles);
  return std::max(1.0, (busy + latency_cycles(spec, loop, k, 1)) / (blocks * busy));
}

// Cycles of `blocks` blocks that are resident on an SM together, which all wait at the same time.
BlockCost wave_cost(const codegen::KernelSpec& spec, const MainloopCost& loop,
                    const BlockCost& cost, double k, double blocks) {
  if (blocks <= 0) return {0, 0};
  const double exposed = blocks * exposure(spec, loop, cost, k, blocks);
  const double block_warps = spec.strategy->threads(spec.tile) / 32.0;
  const auto busy_of = [&](double count) {
    return count * cost.issue_cycles / latency_hiding(spec, loop, count * block_warps);
  };
  // A block that waits out each load takes as long beside others as alone.
  const double alone = loop.steps_ahead == 0 ? busy_of(1) : 0;
  const double busy = busy_of(blocks);
  const double waiting = alone + latency_cycles(spec, loop, k, blocks);
  const double cycles = by_warpgroups(loop)
                            ? with_late_copies(busy, waiting) + blocks * store_cycles(spec.tile)
                            : std::max(busy, waiting);
  return {cycles, exposed * cost.smem_cycles};
}

// DRAM bytes: C once, A and B once for every raster patch that does not share them in L2.
double dram_bytes(const codegen::KernelSpec& spec, const Problem& p, const DeviceSpec& device,
                  double resident) {
  const TileConfig& t = spec.tile;
  const double rows = std::ceil(static_cast<double>(p.shape.m) / t.tile_m);
  const double columns = std::ceil(static_cast<double>(p.shape.n) / t.tile_n);
  const double least = min_bytes_moved(p);
  if (least < 0.5 * static_cast<double>(device.l2_bytes)) return least;
  const double height = std::clamp<double>(std::max(1, t.raster), 1.0, rows);
  const double width = std::clamp(resident / height, 1.0, columns);
  const double patch_rows = resident / width;
  const double element = size_bytes(p.type);
  const auto k = static_cast<double>(p.shape.k);
  const double patches = rows * columns / std::max(1.0, patch_rows * width);
  const double reread = patches * (patch_rows * t.tile_m + width * t.tile_n) * k * element *
                        static_cast<double>(p.batch);
  return std::max(least, reread);
}

// An estimate that fits an SM may not once it is rounded up to what is allocated: the compiler,
// which knows the block's size, will round it down.
int rounded_registers(const DeviceSpec& device, int threads, int registers) {
  constexpr int kUnit = kWarpRegisterUnit / kWarpSize;
  if (registers * threads > device.registers_per_sm) return registers;
  return std::min(registers, device.registers_per_sm / std::max(1, threads) / kUnit * kUnit);
}

}  // namespace

Occupancy occupancy(const DeviceSpec& device, int threads, int registers, int smem_bytes) {
  if (threads <= 0) return {};
  const int warps = ceil_div(threads, 32);
  const int warp_registers =
      ceil_div(std::max(1, registers) * 32, kWarpRegisterUnit) * kWarpRegisterUnit;
  const int smem =
      ceil_div(smem_bytes, kSmemUnit) * kSmemUnit + device.reserved_smem_bytes_per_block;
  struct Limit {
    int blocks;
    const char* name;
  };
  const Limit limits[] = {
      {device.registers_per_sm / (warp_registers * warps), "registers"},
      {smem > 0 ? device.smem_bytes_per_sm / smem : device.max_blocks_per_sm, "shared memory"},
      {device.max_threads_per_sm / (warps * 32), "threads"},
      {device.max_blocks_per_sm, "blocks"},
  };
  const Limit* least =
      std::min_element(std::begin(limits), std::end(limits),
                       [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  return {least->blocks, least->blocks * warps, least->name};
}

namespace {

constexpr double kOverLargest = 1 - 1e-9;  // below any error of rounding

// Blocks of the busiest SM, by which the main loops' time grows.
double blocks_of_busiest(double blocks, const DeviceSpec& device) {
  return std::ceil(blocks / device.sm_count);
}

// Of a thread: groups of warps that share out k work on their parts at the same time.
double depth_of_group(const codegen::KernelWork& work, const MainloopCost& loop) {
  return static_cast<double>(work.block_depth) / loop.groups;
}

// Blocks fill their pipelines so often.
double fill_us(double fills, const DeviceSpec& device) {
  return fills * 2 * kMemoryLatencyCycles / device.boost_clock_mhz;
}
double fills(double waves, const codegen::KernelWork& work) {
  return work.persistent_blocks > 0 ? 1 : std::ceil(waves);
}
// Whatever grid a strategy has for such a main loop.
double fewest_fills(double waves, const MainloopCost& loop) {
  return by_warpgroups(loop) ? 1 : std::ceil(waves);
}

// Blocks that run at once on the SMs that they reach, of `fitting` that an SM has room for.
double blocks_at_once(const codegen::KernelSpec& spec, const MainloopCost& loop, int fitting,
                      const codegen::KernelWork& work, const DeviceSpec& device) {
  const double share = by_warpgroups(loop) ? reachable_share(spec.tile) : 1;
  const double resident = share * fitting * device.sm_count;
  if (work.persistent_blocks == 0) return resident;
  return std::min(resident, static_cast<double>(work.persistent_blocks));
}

// A block waits for other blocks' sums, and reads them by itself.
double handed_us(const codegen::KernelWork& work, const DeviceSpec& device) {
  if (work.handed_bytes == 0) return 0;
  return kHandingUs +
         static_cast<double>(work.handed_bytes) / (kHandedBytesPerCycle * device.boost_clock_mhz);
}

// What follows the main loops: groups leave their sums in shared memory, where they are read once
// more, blocks in memory; and further launches.
double sums_us(const TileConfig& tile, const MainloopCost& loop, const codegen::KernelWork& work,
               const DeviceSpec& device) {
  const int sharing = loop.groups > 1 ? loop.groups : 0;
  const double group_bytes = 2.0 * sharing * tile.tile_m * tile.tile_n * 4;
  const double groups_us = blocks_of_busiest(static_cast<double>(work.blocks), device) *
                           group_bytes / (kSmemBytesPerCycle * device.boost_clock_mhz);
  const double reduction_us =
      static_cast<double>(work.reduction_bytes) / (kL2Speedup * device.memory_gb_per_s * 1e3);
  return groups_us + reduction_us + handed_us(work, device) +
         kLaunchUs * static_cast<double>(work.launches);
}

// With the details that the model likes best, but for registers.
codegen::KernelSpec with_best_details(codegen::KernelSpec spec) {
  constexpr int kWidest = 4;
  if (spec.tile.vector > 0) spec.tile.vector = kWidest;
  spec.tile.order = kOrderSerpentineM;
  spec.tile.lanes = kLanesInterleaved;
  spec.tile.fragments = 2;
  spec.tile.ahead = 1;
  return spec;
}
MainloopCost with_best_details(MainloopCost loop) {
  constexpr int kNever = 1 << 20;
  if (loop.promotion_steps > 0) loop.promotion_steps = kNever;
  return loop;
}

double least_memory_us(const Problem& problem, const DeviceSpec& device) {
  return min_bytes_moved(problem) / (device.memory_gb_per_s * 1e3);
}

// Warps that an SM holds at most, of blocks that are made of any number of `groups`-th parts of
// this one's.
double most_warps(const codegen::KernelSpec& spec, int registers, int groups,
                  const DeviceSpec& device) {
  const codegen::Strategy& strategy = *spec.strategy;
  double warps = device.max_threads_per_sm / 32.0;
  warps = std::min(
      warps, static_cast<double>(device.registers_per_sm) / (std::max(1, registers) * kWarpSize));
  const double smem = static_cast<double>(strategy.smem_bytes(spec)) / groups;
  const double group_warps = strategy.threads(spec.tile) / 32.0 / groups;
  if (smem > 0) warps = std::min(warps, device.smem_bytes_per_sm / smem * group_warps);
  return warps;
}

}  // namespace

Prediction predict(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                   const DeviceSpec& device) {
  Prediction out;
  const int threads = spec.strategy->threads(spec.tile);
  out.occupancy = occupancy(device, threads, rounded_registers(device, threads, registers),
                            spec.strategy->smem_bytes(spec));
  if (out.occupancy.blocks_per_sm == 0) {
    out.total_us = INFINITY;
    return out;
  }
  const codegen::KernelWork work = spec.strategy->work(spec, problem);
  const MainloopCost loop = spec.strategy->mainloop(spec);
  const auto blocks = static_cast<double>(work.blocks);
  const double resident = blocks_at_once(spec, loop, out.occupancy.blocks_per_sm, work, device);
  out.waves = blocks / resident;
  if (loop.path == OperandPath::streamed) {
    predict_streaming(spec, problem, device, work, out);
    return out;
  }

  const double depth = depth_of_group(work, loop);
  const BlockCost cost = block_cost(spec, loop, device, depth);
  const double cycles_per_us = device.boost_clock_mhz;
  // Whole waves run all resident blocks together; the rest run with the fewer blocks that are left,
  // and hide less latency.
  const double full = std::floor(out.waves);
  const double left = std::ceil((blocks - full * resident) / device.sm_count);
  const double whole_blocks = std::ceil(resident / device.sm_count);
  const BlockCost whole = wave_cost(spec, loop, cost, depth, whole_blocks);
  const BlockCost last = wave_cost(spec, loop, cost, depth, left);
  out.arithmetic_us = (full * whole.issue_cycles + last.issue_cycles) / cycles_per_us;
  out.smem_us = (full * whole.smem_cycles + last.smem_cycles) / cycles_per_us;
  out.memory_us = dram_bytes(spec, problem, device, resident) / (device.memory_gb_per_s * 1e3);
  out.total_us = std::max({out.arithmetic_us, out.smem_us, out.memory_us}) +
                 fill_us(fills(out.waves, work), device) + sums_us(spec.tile, loop, work, device);
  return out;
}

bool shares_out_work(std::string_view parameter) {
  constexpr std::string_view kNames[] = {"groups",         "slices", "reduction",
                                         "sharing_blocks", "warps",  "unroll"};
  return std::find(std::begin(kNames), std::end(kNames), parameter) != std::end(kNames);
}

// As predict(), with as many resident blocks as the fewest registers allow, and the same number of
// them in each wave.
double least_us_of_work(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                        const DeviceSpec& device) {
  Prediction out;
  const int threads = spec.strategy->threads(spec.tile);
  out.occupancy = occupancy(device, threads, rounded_registers(device, threads, registers),
                            spec.strategy->smem_bytes(spec));
  if (out.occupancy.blocks_per_sm == 0) return INFINITY;
  const codegen::KernelWork work = spec.strategy->work(spec, problem);
  const codegen::KernelSpec best = with_best_details(spec);
  const MainloopCost loop = with_best_details(spec.strategy->mainloop(best));
  const auto blocks = static_cast<double>(work.blocks);
  out.waves = blocks / (static_cast<double>(out.occupancy.blocks_per_sm) * device.sm_count);
  if (loop.path == OperandPath::streamed) {
    predict_streaming(best, problem, device, work, out);
    return out.total_us * kOverLargest;
  }
  const double depth = depth_of_group(work, loop);
  const BlockCost cost = block_cost(best, loop, device, depth);
  const double busiest = blocks_of_busiest(blocks, device);
  const double warps = std::min<double>(out.occupancy.warps_per_sm, busiest * threads / 32.0);
  const double cycles =
      std::max(cost.issue_cycles / latency_hiding(best, loop, warps), cost.smem_cycles);
  const double waiting = std::ceil(out.waves) * latency_cycles(best, loop, depth, 1);
  const double busy_us = std::max(busiest * cycles, waiting) / device.boost_clock_mhz;
  return (std::max(busy_us, least_memory_us(problem, device)) +
          fill_us(fewest_fills(out.waves, loop), device) + sums_us(spec.tile, loop, work, device)) *
         kOverLargest;
}

// All products are shared out evenly, without a remainder, and adding up costs nothing.
double least_us_of_geometry(const codegen::KernelSpec& spec, int registers, const Problem& problem,
                            const DeviceSpec& device) {
  const codegen::KernelSpec best = with_best_details(spec);
  const MainloopCost loop = with_best_details(spec.strategy->mainloop(best));
  const double tiles_of_sm =
      static_cast<double>(codegen::tiling::tile_blocks(spec.tile, problem)) / device.sm_count;
  const double warps = most_warps(spec, registers, loop.groups, device);
  if (loop.path == OperandPath::streamed)
    return least_streaming_us(best, problem, device, tiles_of_sm, warps) * kOverLargest;
  // Of one group of warps, which multiplies all of k.
  const BlockCost cost =
      block_cost(best, loop, device, static_cast<double>(problem.shape.k) / loop.groups);
  const double cycles =
      std::max(cost.issue_cycles / latency_hiding(best, loop, warps), cost.smem_cycles);
  const double busy_us = tiles_of_sm * cycles / device.boost_clock_mhz;
  return (std::max(busy_us, least_memory_us(problem, device)) + fill_us(1, device) + kLaunchUs) *
         kOverLargest;
}

}  // namespace gemmtune::tuner
