#include "codegen/simt_rules.h"

#include <algorithm>
#include <array>

namespace gemmtune::codegen::simt {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kSmallestTile = 8;
// Addresses, loop counter and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 24;

// Whether the block's threads share out a tile's vectors evenly.
bool copies_evenly(const KernelSpec& spec, int tile_mn, bool contiguous_k, int aligned) {
  const TileConfig& tile = spec.tile;
  const int vector = access_width(tile, aligned);
  const int inner = contiguous_k ? tile.tile_k : tile_mn;
  return inner % vector == 0 &&
         divides(spec.strategy->threads(tile), tile_mn * tile.tile_k / vector);
}

// A warp tile's rows or columns of lanes.
int lanes(int warp, int thread) {
  return thread > 0 ? warp / thread : 0;
}

int block_threads(const RuleInput& in) {
  return in.spec.strategy->threads(in.spec.tile);
}

constexpr std::array kBlockOfWarpsRules = {
    Rule{"tile_m divisible by warp_m", "a block tile is made of whole warp tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.warp_m, in.spec.tile.tile_m); }},
    Rule{"tile_n divisible by warp_n", "a block tile is made of whole warp tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.warp_n, in.spec.tile.tile_n); }},
};

constexpr std::array kWarpTileRules = {
    Rule{"warp_m divisible by thread_m", "a warp tile is made of whole thread tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.thread_m, in.spec.tile.warp_m); }},
    Rule{"warp_n divisible by thread_n", "a warp tile is made of whole thread tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.thread_n, in.spec.tile.warp_n); }},
    Rule{"thread tiles made of 4 x 4 pieces", "fragments are read as 16-byte vectors",
         [](const RuleInput& in) {
           return divides(4, in.spec.tile.thread_m) && divides(4, in.spec.tile.thread_n);
         }},
    Rule{"a warp tile is 32 thread tiles", "each lane of a warp computes one",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return lanes(t.warp_m, t.thread_m) * lanes(t.warp_n, t.thread_n) == 32;
         }},
};

constexpr std::array kBlockTileRules = {
    Rule{"block tiles of at least 8 x 8", "smaller ones would not fit one grid",
         [](const RuleInput& in) {
           return in.spec.tile.tile_m >= kSmallestTile && in.spec.tile.tile_n >= kSmallestTile;
         }},
    Rule{"tile_m divisible by thread_m", "a block tile is made of whole thread tiles",
         [](const RuleInput& in) {
           return divides(std::max(1, in.spec.tile.thread_m), in.spec.tile.tile_m);
         }},
    Rule{"tile_n divisible by thread_n", "a block tile is made of whole thread tiles",
         [](const RuleInput& in) {
           return divides(std::max(1, in.spec.tile.thread_n), in.spec.tile.tile_n);
         }},
    Rule{"a block is made of whole warps", "lanes without work would be wasted",
         [](const RuleInput& in) { return divides(32, block_threads(in)); }},
};

constexpr std::array kGuardedRules = {
    Rule{"tile_k at least 1", "the main loop steps by it",
         [](const RuleInput& in) { return in.spec.tile.tile_k >= 1; }},
};

constexpr std::array kLimitRules = {
    Rule{"at most 1024 threads a block", "hardware limit",
         [](const RuleInput& in) { return block_threads(in) <= kMaxThreads; }},
    Rule{"registers fit a thread", "accumulators and fragments must not spill",
         [](const RuleInput& in) {
           return in.spec.strategy->estimated_registers(in.spec) <=
                  in.device.max_registers_per_thread;
         }},
    Rule{"registers fit min_blocks blocks an SM", "the compiler would spill to reach min_blocks",
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
    Rule{"shared memory fits min_blocks blocks an SM", "more would never be resident",
         [](const RuleInput& in) {
           const int blocks = std::max(1, in.spec.tile.min_blocks);
           const int block =
               in.spec.strategy->smem_bytes(in.spec) + in.device.reserved_smem_bytes_per_block;
           return block * blocks <= in.device.smem_bytes_per_sm;
         }},
};

constexpr std::array kRegisterCopyRules = {
    Rule{"threads divide the vectors of a tile of A", "each thread copies the same number",
         [](const RuleInput& in) {
           const KernelSpec& s = in.spec;
           return copies_evenly(s, s.tile.tile_m, s.traits.a_row_major, s.traits.vector_a);
         }},
    Rule{"threads divide the vectors of a tile of B", "each thread copies the same number",
         [](const RuleInput& in) {
           const KernelSpec& s = in.spec;
           return copies_evenly(s, s.tile.tile_n, !s.traits.b_row_major, s.traits.vector_b);
         }},
};

}  // namespace

bool divides(int part, int whole) {
  return part > 0 && whole > 0 && whole % part == 0;
}

int warps(const TileConfig& t) {
  return t.warp_m > 0 && t.warp_n > 0 ? (t.tile_m / t.warp_m) * (t.tile_n / t.warp_n) : 0;
}

int threads(const TileConfig& tile) {
  return 32 * warps(tile);
}

int access_width(const TileConfig& tile, int aligned) {
  return tile.vector > 0 ? std::min(tile.vector, aligned) : aligned;
}

int block_tile_threads(const TileConfig& t) {
  return t.tile_m / std::max(1, t.thread_m) * (t.tile_n / std::max(1, t.thread_n));
}

int pad_a(const KernelTraits& traits) {
  return traits.a_row_major ? 4 : 0;
}
int pad_b(const KernelTraits& traits) {
  return traits.b_row_major ? 0 : 4;
}

int smem_bytes(const KernelSpec& spec, int buffers) {
  const TileConfig& t = spec.tile;
  const int row = t.tile_m + pad_a(spec.traits) + t.tile_n + pad_b(spec.traits);
  return buffers * t.tile_k * row * size_bytes(spec.type);
}

int unpadded_smem_bytes(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return (t.tile_m + t.tile_n) * t.tile_k * size_bytes(spec.type);
}

int single_buffer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, spec.strategy->threads(t));
  const int in_flight = (t.tile_m + t.tile_n) * t.tile_k / threads_a_block;
  const int m = std::max(1, t.thread_m);
  const int n = std::max(1, t.thread_n);
  return m * n + std::max(m + n, in_flight) + kOverheadRegisters;
}

int double_buffer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, threads(t));
  const int in_flight = (t.tile_m + t.tile_n) * t.tile_k / threads_a_block;
  return t.thread_m * t.thread_n + t.fragments * (t.thread_m + t.thread_n) + in_flight +
         kOverheadRegisters;
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

Expected<void> supports_f32(const Problem& problem) {
  if (problem.type != DataType::f32 || problem.math != MathMode::ieee) {
    return make_error(ErrorKind::unsupported, "computes f32 with --math ieee only");
  }
  return fits_one_grid(problem);
}

std::vector<Rule> rules_with(std::span<const Rule> own) {
  return joined({kBlockOfWarpsRules, kWarpTileRules, kLimitRules, own});
}

std::vector<Rule> block_tile_rules_with(std::span<const Rule> own) {
  return joined({kBlockTileRules, own, kLimitRules});
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

std::span<const Rule> guarded_rules() {
  return kGuardedRules;
}

std::span<const Rule> register_copy_rules() {
  return kRegisterCopyRules;
}

}  // namespace gemmtune::codegen::simt
