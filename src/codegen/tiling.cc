#include "codegen/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/shared/whole_numbers.h"

namespace gemmtune::codegen::tiling {
namespace {

constexpr int kMaxThreads = 1024;

int block_threads(const RuleInput& in) {
  return in.spec.strategy->threads(in.spec.tile);
}

constexpr std::array kBlockOfWarpsRules = {
    Rule{"tile_m divisible by warp_m", "a block tile is made of whole warp tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.warp_m, in.spec.tile.tile_m); }},
    Rule{"tile_n divisible by warp_n", "a block tile is made of whole warp tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.warp_n, in.spec.tile.tile_n); }},
};

constexpr std::array kLimitRules = {
    Rule{"at most 1024 threads per block", "hardware limit",
         [](const RuleInput& in) { return block_threads(in) <= kMaxThreads; }},
    Rule{"registers fit a thread", "accumulators and fragments must not spill",
         [](const RuleInput& in) {
           return in.spec.strategy->estimated_registers(in.spec) <=
                  in.device.max_registers_per_thread;
         }},
    Rule{"registers fit min_blocks blocks per SM", "the compiler would spill to reach min_blocks",
         [](const RuleInput& in) {
           const int blocks = std::max(1, in.spec.tile.min_blocks);
           const int needed = in.spec.strategy->estimated_registers(in.spec) * block_threads(in);
           return needed * blocks <= in.device.registers_per_sm;
         }},
    Rule{"min_blocks blocks fit an SM's threads", "more would never be resident",
         [](const RuleInput& in) {
           const int blocks = std::max(1, in.spec.tile.min_blocks);
           return block_threads(in) * blocks <= in.device.max_threads_per_sm;
         }},
    Rule{"shared memory fits a block", "limit of the arch",
         [](const RuleInput& in) {
           return in.spec.strategy->smem_bytes(in.spec) <= in.device.max_smem_bytes_per_block;
         }},
    Rule{"shared memory fits min_blocks blocks per SM", "more would never be resident",
         [](const RuleInput& in) {
           const int blocks = std::max(1, in.spec.tile.min_blocks);
           const int block =
               in.spec.strategy->smem_bytes(in.spec) + in.device.reserved_smem_bytes_per_block;
           return block * blocks <= in.device.smem_bytes_per_sm;
         }},
};

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

int blocks_of_cluster(const TileConfig& tile) {
  const bool sums_meet = tile.slices > 1 && tile.reduction == kReduceCluster;
  return cluster_blocks(tile) * (sums_meet ? tile.slices : 1);
}

int64_t tile_blocks(const TileConfig& tile, const Problem& problem) {
  return ceil_div(problem.shape.m, tile.tile_m) * ceil_div(problem.shape.n, tile.tile_n) *
         problem.batch;
}

BlockCount tile_grid(const TileConfig& tile, const Problem& problem, int times) {
  std::string formula =
      fmt::format("ceil(m / {}) * ceil(n / {}) * batch", tile.tile_m, tile.tile_n);
  if (times > 1) formula += fmt::format(" * {}", times);
  return {tile_blocks(tile, problem) * times, std::move(formula)};
}

BlockCount element_grid(int64_t per_block, const Problem& problem) {
  const int64_t elements = problem.shape.m * problem.shape.n * problem.batch;
  return {ceil_div(elements, per_block), fmt::format("ceil(m * n * batch / {})", per_block)};
}

Expected<void> fits_one_grid(const Problem& problem) {
  const Shape& s = problem.shape;
  const int64_t rows = s.m / kSmallestTile + 1;
  const int64_t columns = s.n / kSmallestTile + 1;
  const double tiles =
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(problem.batch);
  if (tiles > static_cast<double>(kMaxDimension)) {
    return make_error(ErrorKind::unsupported,
                      "more tiles than one grid can hold; split the batch or m");
  }
  return {};
}

double loaded_bytes(int bytes, int m, int n) {
  return bytes * (1.0 / std::max(1, m) + 1.0 / std::max(1, n));
}

bool all_hold(std::span<const Rule> rules, const RuleInput& in) {
  return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.holds(in); });
}

std::vector<Rule> joined(std::initializer_list<std::span<const Rule>> lists) {
  std::vector<Rule> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::span<const Rule> block_of_warps_rules() {
  return kBlockOfWarpsRules;
}

std::span<const Rule> limit_rules() {
  return kLimitRules;
}

}  // namespace gemmtune::codegen::tiling
