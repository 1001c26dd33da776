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

// A matrix as TMA sees it: lines side by side of what is contiguous, and how people call all that.
struct Matrix {
  Buffer buffer;
  char letter;  // of "lda"
  DataType type;
  std::string_view inner;  // "k"
  std::string_view outer;
  int64_t inner_extent;
  int64_t outer_extent;
  int64_t ld;
  int64_t batch_stride;
};

// The map of such a matrix, without what is copied at once.
TensorMapArgument map_of(const Matrix& matrix, int64_t batch) {
  const auto bytes = static_cast<uint64_t>(size_bytes(matrix.type));
  TensorMapArgument map{matrix.buffer, 0, {}, {}};
  map.config.type = matrix.type;
  map.config.dimensions = 3;
  map.config.extent = {static_cast<uint64_t>(matrix.inner_extent),
                       static_cast<uint64_t>(matrix.outer_extent), static_cast<uint64_t>(batch)};
  // Of a single matrix the distance to the next is never used, but has to be a multiple of 16.
  const int64_t stride = batch > 1 ? matrix.batch_stride : matrix.ld;
  map.config.stride_bytes = {static_cast<uint64_t>(matrix.ld) * bytes,
                             static_cast<uint64_t>(stride) * bytes};
  map.formula =
      fmt::format("extents {0} x {1} x batch, strides {2} * ld{3} and {2} * stride_{3} bytes",
                  matrix.inner, matrix.outer, bytes, matrix.letter);
  return map;
}

// The same of A or B, loaded in boxes of a side of `side` by tile_k that `parts` blocks share.
TensorMapArgument map_of_operand(const KernelSpec& spec, const Matrix& matrix, int64_t batch,
                                 int side, int parts) {
  const int bytes = size_bytes(matrix.type);
  const TmaTile tile(side, spec.tile.tile_k, matrix.inner == "k", bytes);
  TensorMapArgument map = map_of(matrix, batch);
  map.config.box = {static_cast<uint32_t>(kTmaLineBytes / bytes),
                    static_cast<uint32_t>(tile.box_rows / parts), 1};
  map.config.swizzle = TensorSwizzle::bytes_128;
  return map;
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
  const int bytes = size_bytes(spec.type);
  return {tiling::loaded_bytes(bytes, t.tile_m * cluster_m(t), t.tile_n * cluster_n(t)),
          tiling::loaded_bytes(bytes, consumer_rows(t), wgmma_tile_columns(t))};
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
  const Shape& s = p.shape;
  const Matrix matrix =
      contiguous_k_a(spec)
          ? Matrix{Buffer::a, 'a', spec.type, "k", "m", s.k, s.m, p.lda, p.stride_a}
          : Matrix{Buffer::a, 'a', spec.type, "m", "k", s.m, s.k, p.lda, p.stride_a};
  return map_of_operand(spec, matrix, p.batch, spec.tile.tile_m, cluster_n(spec.tile));
}

TensorMapArgument map_of_b(const KernelSpec& spec, const Problem& p) {
  const Shape& s = p.shape;
  const Matrix matrix =
      contiguous_k_b(spec)
          ? Matrix{Buffer::b, 'b', spec.type, "k", "n", s.k, s.n, p.ldb, p.stride_b}
          : Matrix{Buffer::b, 'b', spec.type, "n", "k", s.n, s.k, p.ldb, p.stride_b};
  return map_of_operand(spec, matrix, p.batch, spec.tile.tile_n, cluster_m(spec.tile));
}

bool stores_boxes(const KernelSpec& spec) {
  return gemmtune::stores_boxes(spec.tile, spec.traits.vector_c, size_bytes(result_type(spec)));
}

std::optional<TensorMapArgument> map_of_c(const KernelSpec& spec, const Problem& p) {
  if (!stores_boxes(spec)) return std::nullopt;
  const WgmmaBoxes boxes(spec.tile);
  TensorMapArgument map =
      map_of({Buffer::c, 'c', result_type(spec), "n", "m", p.shape.n, p.shape.m, p.ldc, p.stride_c},
             p.batch);
  map.config.box = {static_cast<uint32_t>(boxes.columns), WgmmaBoxes::kRows, 1};
  map.config.swizzle = swizzle_over(boxes.line_bytes());
  return map;
}

BlockCount cluster_grid(const TileConfig& tile, const Problem& problem) {
  TileConfig of_cluster = tile;
  of_cluster.tile_m *= cluster_m(tile);
  of_cluster.tile_n *= cluster_n(tile);
  return tiling::tile_grid(of_cluster, problem, cluster_blocks(tile));
}

}  // namespace gemmtune::codegen::wgmma
