#include "codegen/wgmma_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/tiling.h"
#include "codegen/wgmma_instruction.h"

#include "parts/shared/wgmma_tiles.h"
#include "parts/shared/whole_numbers.h"

namespace gemmtune::codegen::wgmma {
namespace {

// Of a consumer's thread beside its sums: descriptors, barriers, counters, launch arguments.
constexpr int kOverheadRegisters = 28;
constexpr int kRegisterBytes = 4;
constexpr int kHopper = 90;
constexpr int kTmaBytes = 16;  // what TMA's addresses and strides are multiples of
constexpr int kMostConsumers = 3;
constexpr int kMostClusterBlocks = 8;  // that every device of sm_90 runs together
constexpr int kSwizzleLines = 8;       // after which the swizzle repeats
constexpr int kPersistentLimit = 4096;

bool contiguous_k_a(const KernelSpec& spec) {
  return spec.traits.a_row_major;
}
bool contiguous_k_b(const KernelSpec& spec) {
  return !spec.traits.b_row_major;
}

// Whether each of `parts` blocks can load its share of an operand's boxes.
bool shares_evenly(int side, int tile_k, bool contiguous_k, int element_bytes, int parts) {
  const TmaTile tile(side, tile_k, contiguous_k, element_bytes);
  return tile.box_rows % (parts * kSwizzleLines) == 0 && tile.box_rows / parts <= kMostTmaBoxRows;
}

int cluster_m(const TileConfig& tile) {
  return at_least_one(tile.cluster_m);
}
int cluster_n(const TileConfig& tile) {
  return at_least_one(tile.cluster_n);
}

constexpr std::array kTileRules = {
    Rule{"operands that 16 bytes divide", "TMA copies no others",
         [](const RuleInput& in) {
           const int bytes = size_bytes(in.spec.type);
           return in.spec.traits.vector_a * bytes >= kTmaBytes &&
                  in.spec.traits.vector_b * bytes >= kTmaBytes;
         }},
    Rule{"1 to 3 consumers", "a fourth would leave each too few registers",
         [](const RuleInput& in) {
           return in.spec.tile.consumers >= 1 && in.spec.tile.consumers <= kMostConsumers;
         }},
    Rule{"ping-pong takes 2 consumers or more", "one has nobody to take turns with",
         [](const RuleInput& in) {
           return in.spec.tile.schedule != kPingPong || in.spec.tile.consumers >= 2;
         }},
    Rule{"each consumer computes whole 64 rows", "wgmma multiplies so many",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const int parts = t.schedule == kPingPong ? 1 : t.consumers;
           return divides(kWgmmaRows * parts, wgmma_tile_rows(t));
         }},
    Rule{"columns of 8 up to 256", "wgmma multiplies so many",
         [](const RuleInput& in) {
           const int columns = wgmma_tile_columns(in.spec.tile);
           return divides(8, columns) && columns <= kMostWgmmaColumns;
         }},
    Rule{"tile_k of whole 128-byte lines", "so wide is the swizzle",
         [](const RuleInput& in) {
           return divides(kTmaLineBytes, in.spec.tile.tile_k * size_bytes(in.spec.type));
         }},
    Rule{"at least 2 stages", "with fewer copies and product cannot overlap",
         [](const RuleInput& in) { return in.spec.tile.stages >= 2; }},
    Rule{"exchanged tiles are not square", "a square one is computed as it is",
         [](const RuleInput& in) {
           return in.spec.tile.exchange == 0 || in.spec.tile.tile_m != in.spec.tile.tile_n;
         }},
};

constexpr std::array kClusterRules = {
    Rule{"at most 8 blocks per cluster", "every device runs so many together",
         [](const RuleInput& in) { return cluster_blocks(in.spec.tile) <= kMostClusterBlocks; }},
    Rule{"blocks of a cluster share tiles evenly",
         "each loads whole groups of 8 lines, 256 at most",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const int bytes = size_bytes(in.spec.type);
           return shares_evenly(t.tile_m, t.tile_k, contiguous_k_a(in.spec), bytes, cluster_n(t)) &&
                  shares_evenly(t.tile_n, t.tile_k, contiguous_k_b(in.spec), bytes, cluster_m(t));
         }},
    Rule{"whole clusters of persistent blocks", "a cluster goes through the tiles together",
         [](const RuleInput& in) {
           const int blocks = in.spec.tile.persistent_blocks;
           return blocks >= 0 && blocks <= kPersistentLimit &&
                  blocks % cluster_blocks(in.spec.tile) == 0;
         }},
    Rule{"sums fit a consumer's registers", "they must not spill",
         [](const RuleInput& in) {
           return consumer_registers(in.spec) <= WgmmaRegisters(in.spec.tile).of_consumer();
         }},
};

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// A matrix of `outer` lines of `inner` elements.
TensorMapConfig matrix_map(DataType type, const Problem& problem, int64_t inner, int64_t outer,
                           int64_t ld, int64_t batch_stride) {
  const auto bytes = static_cast<uint64_t>(size_bytes(type));
  TensorMapConfig config;
  config.type = type;
  config.dimensions = 3;
  config.extent = {static_cast<uint64_t>(inner), static_cast<uint64_t>(outer),
                   static_cast<uint64_t>(problem.batch)};
  // Of a single matrix the distance to the next is never used, but has to be a multiple of 16.
  const int64_t stride = problem.batch > 1 ? batch_stride : ld;
  config.stride_bytes = {static_cast<uint64_t>(ld) * bytes, static_cast<uint64_t>(stride) * bytes};
  return config;
}

// The same of A or B, loaded in boxes of so many swizzled lines.
TensorMapConfig operand_map(const KernelSpec& spec, const Problem& problem, int64_t inner,
                            int64_t outer, int64_t ld, int64_t batch_stride, int box_rows) {
  TensorMapConfig config = matrix_map(spec.type, problem, inner, outer, ld, batch_stride);
  config.box = {static_cast<uint32_t>(kTmaLineBytes / size_bytes(spec.type)),
                static_cast<uint32_t>(box_rows), 1};
  config.swizzle = TensorSwizzle::bytes_128;
  return config;
}

// The swizzle over lines of so many bytes.
TensorSwizzle swizzle_over(int bytes) {
  switch (bytes) {
    case 128:
      return TensorSwizzle::bytes_128;
    case 64:
      return TensorSwizzle::bytes_64;
    case 32:
      return TensorSwizzle::bytes_32;
    default:
      return TensorSwizzle::none;
  }
}

// "extents k x m x batch, strides 2 * lda and 2 * stride_a bytes".
std::string map_formula(std::string_view inner, std::string_view outer, char matrix, int bytes) {
  return fmt::format("extents {0} x {1} x batch, strides {2} * ld{3} and {2} * stride_{3} bytes",
                     inner, outer, bytes, matrix);
}

int box_rows(const KernelSpec& spec, int side, bool contiguous_k, int parts) {
  return TmaTile(side, spec.tile.tile_k, contiguous_k, size_bytes(spec.type)).box_rows / parts;
}

}  // namespace

Expected<void> supports(const Problem& problem, Arch capability) {
  if (capability.number() != kHopper) return make_error(ErrorKind::unsupported, "needs sm_90");
  switch (problem.type) {
    case DataType::f16:
    case DataType::bf16:
      break;
    case DataType::f32:
      return make_error(ErrorKind::unsupported, "computes f16 and bf16 only");
  }
  return tiling::fits_one_grid(problem);
}

std::span<const Rule> tile_rules() {
  return kTileRules;
}
std::span<const Rule> cluster_rules() {
  return kClusterRules;
}

int stages_bytes(const KernelSpec& spec) {
  return spec.tile.stages * wgmma_stage_bytes(spec.tile, contiguous_k_a(spec), contiguous_k_b(spec),
                                              size_bytes(spec.type));
}

int consumer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int sums = consumer_rows(t) * wgmma_tile_columns(t) / kWarpgroupThreads *
                   size_bytes(spec.accumulator) / kRegisterBytes;
  return sums + kOverheadRegisters;
}

LoadBytes loads(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const double bytes = size_bytes(spec.type);
  const auto of_tile = [&](double m, double n) {
    return bytes * (1.0 / std::max(1.0, m) + 1.0 / std::max(1.0, n));
  };
  return {of_tile(t.tile_m * cluster_m(t), t.tile_n * cluster_n(t)),
          of_tile(consumer_rows(t), wgmma_tile_columns(t))};
}

MainloopCost mainloop(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  MainloopCost cost;
  cost.arithmetic = Arithmetic::tensor_core;
  cost.path = OperandPath::warpgroup_tiles;
  cost.step_depth = t.tile_k;
  cost.steps_ahead = t.stages - 1;
  cost.load_a = spec.traits.vector_a;
  cost.load_b = spec.traits.vector_b;
  cost.result_rows = consumer_rows(t);
  cost.result_columns = wgmma_tile_columns(t);
  return cost;
}

SourceHeader instruction(const KernelSpec& spec) {
  const bool a_along_m = !contiguous_k_a(spec);
  const bool b_along_n = !contiguous_k_b(spec);
  const bool exchanged = spec.tile.exchange != 0;
  return {std::string(kWgmmaInstructionHeader),
          wgmma_instruction_header({wgmma_tile_columns(spec.tile), spec.type, spec.accumulator,
                                    exchanged ? b_along_n : a_along_m,
                                    exchanged ? a_along_m : b_along_n})};
}

TensorMapArgument map_of_a(const KernelSpec& spec, const Problem& p) {
  const bool contiguous_k = contiguous_k_a(spec);
  const Shape& s = p.shape;
  const int bytes = size_bytes(spec.type);
  return {
      Buffer::a, 0,
      operand_map(spec, p, contiguous_k ? s.k : s.m, contiguous_k ? s.m : s.k, p.lda, p.stride_a,
                  box_rows(spec, spec.tile.tile_m, contiguous_k, cluster_n(spec.tile))),
      contiguous_k ? map_formula("k", "m", 'a', bytes) : map_formula("m", "k", 'a', bytes)};
}

TensorMapArgument map_of_b(const KernelSpec& spec, const Problem& p) {
  const bool contiguous_k = contiguous_k_b(spec);
  const Shape& s = p.shape;
  const int bytes = size_bytes(spec.type);
  return {
      Buffer::b, 0,
      operand_map(spec, p, contiguous_k ? s.k : s.n, contiguous_k ? s.n : s.k, p.ldb, p.stride_b,
                  box_rows(spec, spec.tile.tile_n, contiguous_k, cluster_m(spec.tile))),
      contiguous_k ? map_formula("k", "n", 'b', bytes) : map_formula("n", "k", 'b', bytes)};
}

bool stores_boxes(const KernelSpec& spec) {
  return gemmtune::stores_boxes(spec.tile, spec.traits.vector_c, size_bytes(result_type(spec)));
}

std::optional<TensorMapArgument> map_of_c(const KernelSpec& spec, const Problem& p) {
  if (!stores_boxes(spec)) return std::nullopt;
  const WgmmaBoxes boxes(spec.tile);
  TensorMapConfig config =
      matrix_map(result_type(spec), p, p.shape.n, p.shape.m, p.ldc, p.stride_c);
  config.box = {static_cast<uint32_t>(boxes.columns), WgmmaBoxes::kRows, 1};
  config.swizzle = swizzle_over(boxes.line_bytes());
  return TensorMapArgument{Buffer::c, 0, config,
                           map_formula("n", "m", 'c', size_bytes(result_type(spec)))};
}

BlockCount cluster_grid(const TileConfig& tile, const Problem& problem) {
  const int m = tile.tile_m * cluster_m(tile);
  const int n = tile.tile_n * cluster_n(tile);
  const int blocks = cluster_blocks(tile);
  std::string formula = fmt::format("ceil(m / {}) * ceil(n / {}) * batch", m, n);
  if (blocks > 1) formula += fmt::format(" * {}", blocks);
  return {ceil_div(problem.shape.m, m) * ceil_div(problem.shape.n, n) * problem.batch * blocks,
          std::move(formula)};
}

}  // namespace gemmtune::codegen::wgmma
