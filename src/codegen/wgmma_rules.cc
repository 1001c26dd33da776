#include "codegen/wgmma_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/tiling.h"
#include "codegen/wgmma_instruction.h"

#include "parts/shared/block_scales.h"
#include "parts/shared/plane_pairs.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/shared/whole_numbers.h"

namespace gemmtune::codegen::wgmma {
namespace {

// Of a consumer's thread beside its sums: descriptors, barriers, counters, launch arguments.
// Kernels whose sums leave it fewer spill (docs/performance.md, "Hopper").
constexpr int kOverheadRegisters = 40;
constexpr int kOverheadRegistersOfParts = 44;  // with sums of parts of k beside those of all
constexpr int kOverheadRegistersOfSlab = 56;   // that results leave through (wgmma_epilogue.cuh)
constexpr int kOverheadRegistersOfBias = 16;   // of the rows of one, exchanged
constexpr int kOverheadRegistersOfNarrowSlab = 100;
constexpr int kColumnsOfScales = 32;         // of wgmma's, whose scales take a register of a lane
constexpr int kRegistersBesideProduct = 32;  // as the assembler counts, before setmaxnreg
constexpr int kRegisterBytes = 4;
constexpr int kHopper = 90;
constexpr int kTmaBytes = 16;  // what TMA's addresses and strides are multiples of
constexpr int kMostConsumers = 3;
constexpr int kMostClusterBlocks = 8;  // that every device of sm_90 runs together
constexpr int kPersistentLimit = 4096;

// Of an operand as wgmma multiplies it.
DataType operand_type(const KernelSpec& spec) {
  switch (spec.math) {
    case MathMode::bf16x6:
    case MathMode::bf16x9:
      return DataType::bf16;
    case MathMode::f16:
      return DataType::f16;
    case MathMode::ieee:
    case MathMode::tf32:
    case MathMode::tf32x3:
    case MathMode::fast_accum:
      break;
  }
  return spec.type;
}
int operand_bytes(const KernelSpec& spec) {
  return size_bytes(operand_type(spec));
}

struct PlaneCounts {
  int pairs;     // whose products one of operands is made of
  int of_stage;  // planes of an operand that a stage holds: that of one pair, or all

  bool all_in_stage() const { return of_stage > 1; }
};

template <Products kProducts>
constexpr PlaneCounts counts_of() {
  return {PlanePairs<kProducts>::kCount, PlanePairs<kProducts>::kStagePlanes};
}

PlaneCounts plane_counts(MathMode math) {
  switch (math) {
    case MathMode::bf16x6:
      return counts_of<kBf16x6>();
    case MathMode::bf16x9:
      return counts_of<kBf16x9>();
    case MathMode::tf32x3:
      return counts_of<k3xTf32>();
    case MathMode::ieee:
    case MathMode::tf32:
    case MathMode::f16:
    case MathMode::fast_accum:
      break;
  }
  return counts_of<kExact>();
}

bool promotes_sums(const KernelSpec& spec) {
  return is_fp8(spec.type) && spec.math == MathMode::ieee;
}

bool contiguous_k_a(const KernelSpec& spec) {
  return spec.strategy->main_traits(spec).a_row_major;
}
bool contiguous_k_b(const KernelSpec& spec) {
  return !spec.strategy->main_traits(spec).b_row_major;
}

// Whether TMA can load at once what each of `blocks` that share an operand's tile loads of a box.
bool fits_boxes(int side, int tile_k, bool contiguous_k, int element_bytes, int blocks) {
  const TmaTile tile(side, tile_k, contiguous_k, element_bytes);
  return divides(kSwizzleLines, tile.box_rows) &&
         tile.box_rows / tile.parts(blocks) <= kMostTmaBoxRows;
}

// Whether blocks of 128 lines with a scale each lie in tiles with `side` lines, or tiles in them.
bool keeps_blocks(int side) {
  return divides(side, kScaleBlock) || divides(kScaleBlock, side);
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
           const int bytes = operand_bytes(in.spec);
           const KernelTraits traits = in.spec.strategy->main_traits(in.spec);
           return traits.vector_a * bytes >= kTmaBytes && traits.vector_b * bytes >= kTmaBytes;
         }},
    Rule{"k contiguous in both operands unless they have 16 bits",
         "wgmma reads only those either way",
         [](const RuleInput& in) {
           return operand_bytes(in.spec) == 2 ||
                  (contiguous_k_a(in.spec) && contiguous_k_b(in.spec));
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
    Rule{"columns of 8 up to 512", "two wgmma multiply so many",
         [](const RuleInput& in) {
           const int columns = wgmma_tile_columns(in.spec.tile);
           return divides(8, columns) && columns <= 2 * kMostWgmmaColumns;
         }},
    Rule{"columns of i8 operands above 32 are multiples of 16", "wgmma multiplies no others",
         [](const RuleInput& in) {
           const WgmmaParts parts = wgmma_parts(wgmma_tile_columns(in.spec.tile));
           const auto exists = [](int columns) { return columns <= 32 || divides(16, columns); };
           return in.spec.type != DataType::i8 || (exists(parts.first) && exists(parts.second));
         }},
    Rule{"tile_k of whole 128-byte lines", "so wide is the swizzle",
         [](const RuleInput& in) {
           return divides(kTmaLineBytes, in.spec.tile.tile_k * operand_bytes(in.spec));
         }},
    Rule{"sums of 8-bit products are promoted every 128 of k",
         "the tensor cores keep 13 bits behind the point of the largest",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return !promotes_sums(in.spec) || promotion_tiles(t) * t.tile_k <= kMostUnpromotedK;
         }},
    Rule{"tiles do not cut blocks of 128 lines that have a scale", "each has scales of its own",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const Scale scale = in.spec.traits.epilogue.scale;
           return (!scales_squares_of_a(scale) || keeps_blocks(t.tile_m)) &&
                  (!scales_squares_of_b(scale) || keeps_blocks(t.tile_n));
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
    Rule{"tiles are loaded in boxes of whole 8 lines, 256 at most", "TMA copies no larger ones",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const int bytes = operand_bytes(in.spec);
           return fits_boxes(t.tile_m, t.tile_k, contiguous_k_a(in.spec), bytes, cluster_n(t)) &&
                  fits_boxes(t.tile_n, t.tile_k, contiguous_k_b(in.spec), bytes, cluster_m(t));
         }},
    Rule{"whole clusters of persistent blocks", "a cluster goes through the tiles together",
         [](const RuleInput& in) {
           const int blocks = in.spec.tile.persistent_blocks;
           return blocks >= 0 && blocks <= kPersistentLimit &&
                  blocks % cluster_blocks(in.spec.tile) == 0;
         }},
};

constexpr std::array kRegisterRules = {
    Rule{"sums fit a consumer's registers", "they must not spill",
         [](const RuleInput& in) {
           return consumer_registers(in.spec) <= WgmmaRegisters(in.spec.tile).of_consumer();
         }},
    Rule{"sums of one product fit the registers that a block starts with",
         "the assembler knows no others",
         [](const RuleInput& in) {
           return registers_of_product(in.spec) <= WgmmaRegisters(in.spec.tile).at_start;
         }},
};

// Of scales that a lane has while a tile is multiplied: two of each 64 rows and its share of the
// columns'.
int scale_registers(const KernelSpec& spec) {
  switch (spec.traits.epilogue.scale) {
    case kScalePerTensor:
      return 2;
    case kScalePerRow:
      return consumer_rows(spec.tile) / kWgmmaRows * 2 +
             wgmma_tile_columns(spec.tile) / kColumnsOfScales;
    case kScale1x128:  // loaded when the sums of a part are added
    case kScale1x128By128x128:
    case kScale128x128By1x128:
    case kNoScale:
      break;
  }
  return 0;
}

int exchanged_overhead(const KernelSpec& spec) {
  const bool has_bias = spec.traits.epilogue.bias != kNoBias;
  return kOverheadRegistersOfSlab + (has_bias ? kOverheadRegistersOfBias : 0);
}

int overhead(const KernelSpec& spec) {
  const int result_bytes = size_bytes(result_type(spec));
  const int vector_c = spec.traits.vector_c;
  if (vector_c * result_bytes >= kTmaBytes || stores_rows(spec.tile, vector_c, result_bytes))
    return kOverheadRegisters;
  constexpr int kWideSlab = 32;  // columns that it takes at once, where they divide the tile
  return divides(kWideSlab, spec.tile.tile_n) ? kOverheadRegistersOfSlab
                                              : kOverheadRegistersOfNarrowSlab;
}

// A matrix as TMA sees it: lines side by side of what is contiguous, and how people call all that.
struct Lines {
  std::string_view inner;  // "k"
  std::string_view outer;
  int64_t inner_extent;
  int64_t outer_extent;
};

// The map of such matrices, without what is copied at once.
TensorMapArgument map_of(const Lines& lines, const MatrixPlace& at, DataType type) {
  const auto bytes = static_cast<uint64_t>(size_bytes(type));
  TensorMapArgument map{at.buffer, at.offset_bytes, {}, at.offset_formula, {}, {}, {}};
  map.config.type = type;
  map.config.dimensions = 3;
  map.config.extent = {static_cast<uint64_t>(lines.inner_extent),
                       static_cast<uint64_t>(lines.outer_extent),
                       static_cast<uint64_t>(at.matrices)};
  // Of a single matrix the distance to the next is never used, but has to be a multiple of 16.
  const int64_t stride = at.matrices > 1 ? at.stride : at.ld;
  map.config.stride_bytes = {static_cast<uint64_t>(at.ld) * bytes,
                             static_cast<uint64_t>(stride) * bytes};
  map.extent_formulas = {std::string(lines.inner), std::string(lines.outer), at.matrices_formula};
  map.stride_formulas = {fmt::format("{} * {}", bytes, at.ld_formula),
                         fmt::format("{} * {}", bytes, at.stride_formula)};
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

// The same of A or B, loaded in boxes of a side of `side` by tile_k that `blocks` blocks share.
TensorMapArgument map_of_operand(const KernelSpec& spec, const Lines& lines, const MatrixPlace& at,
                                 int side, int blocks) {
  const DataType type = operand_type(spec);
  const TmaTile tile(side, spec.tile.tile_k, lines.inner == "k", size_bytes(type));
  TensorMapArgument map = map_of(lines, at, type);
  map.config.box = {static_cast<uint32_t>(tile.line_bytes / size_bytes(type)),
                    static_cast<uint32_t>(tile.box_rows / tile.parts(blocks)), 1};
  map.config.swizzle = swizzle_over(tile.line_bytes);
  // wgmma cuts the lower bits off.
  map.config.rounds_to_tf32 = spec.math == MathMode::tf32;
  return map;
}

// Has boxes of A with few rows no more lines than those need, which kernels know as well.
void take_lines_of_few_rows(const KernelSpec& spec, const Shape& shape, TensorMapArgument& map) {
  const int blocks = cluster_n(spec.tile);
  const TmaTile tile(spec.tile.tile_m, spec.tile.tile_k, true, operand_bytes(spec));
  const int parts = tile.parts(blocks);
  map.config.box[1] = static_cast<uint32_t>(tile.part_lines(blocks, shape.m));
  map.lines_formula = parts == 1 ? fmt::format("min({}, m)", tile.box_rows)
                                 : fmt::format("min({}, {} * ceil(m / {}))", tile.box_rows / parts,
                                               kSwizzleLines, kSwizzleLines * parts);
}

// A matrix of the problem, in one of its own buffers.
MatrixPlace place_of(Buffer buffer, char letter, int64_t ld, int64_t stride, int64_t batch) {
  return {buffer,
          0,
          ld,
          stride,
          batch,
          fmt::format("ld{}", letter),
          fmt::format("(batch > 1 ? stride_{0} : ld{0})", letter),
          "batch"};
}

}  // namespace

Expected<void> fits(const Problem& problem, Arch capability) {
  if (capability.number() != kHopper) return make_error(ErrorKind::unsupported, "needs sm_90");
  return tiling::fits_one_grid(problem);
}

Expected<void> supports(const Problem& problem, Arch capability) {
  if (problem.type == DataType::f32 && problem.math != MathMode::tf32) {
    return make_error(ErrorKind::unsupported, "computes f16, bf16, tf32 and 8-bit types only");
  }
  const bool contiguous_k =
      problem.layout.a == Order::row_major && problem.layout.b == Order::column_major;
  if (size_bytes(problem.type) != 2 && !contiguous_k) {
    return make_error(ErrorKind::unsupported,
                      "computes tf32 and 8-bit types where k is contiguous in both operands only");
  }
  return fits(problem, capability);
}

std::span<const Rule> tile_rules() {
  return kTileRules;
}
std::span<const Rule> cluster_rules() {
  return kClusterRules;
}
std::span<const Rule> register_rules() {
  return kRegisterRules;
}

int stages_bytes(const KernelSpec& spec) {
  return wgmma_stages_bytes(spec.tile, contiguous_k_a(spec), contiguous_k_b(spec),
                            operand_bytes(spec), plane_counts(spec.math).of_stage,
                            spec.traits.epilogue.scale);
}

int consumer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int sums = consumer_sums(t) * size_bytes(spec.accumulator) / kRegisterBytes;
  const int in_parts = 2 * sums + kOverheadRegistersOfParts;
  if (plane_counts(spec.math).pairs > 1) return in_parts;
  const int at_end =
      sums + scale_registers(spec) + (t.exchange != 0 ? exchanged_overhead(spec) : overhead(spec));
  return promotes_sums(spec) ? std::max(in_parts, at_end) : at_end;
}

int registers_of_product(const KernelSpec& spec) {
  const int columns = wgmma_parts(wgmma_tile_columns(spec.tile)).widest();
  const int sums =
      kWgmmaRows * columns / kWarpgroupThreads * size_bytes(spec.accumulator) / kRegisterBytes;
  return sums + kRegistersBesideProduct;
}

int operand_bytes_of_product(const KernelSpec& spec) {
  return operand_bytes(spec) * plane_counts(spec.math).pairs;
}
int loaded_bytes_of_product(const KernelSpec& spec) {
  const PlaneCounts planes = plane_counts(spec.math);
  return operand_bytes(spec) * (planes.all_in_stage() ? planes.of_stage : planes.pairs);
}

LoadBytes loads(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return {tiling::loaded_bytes(loaded_bytes_of_product(spec), t.tile_m * cluster_m(t),
                               t.tile_n * cluster_n(t)),
          tiling::loaded_bytes(operand_bytes_of_product(spec), consumer_rows(t),
                               wgmma_tile_columns(t))};
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
  if (promotes_sums(spec) || plane_counts(spec.math).all_in_stage())
    cost.promotion_steps = promotion_tiles(t);
  return cost;
}

SourceHeader instruction(const KernelSpec& spec) {
  const bool a_along_m = !contiguous_k_a(spec);
  const bool b_along_n = !contiguous_k_b(spec);
  const bool exchanged = spec.tile.exchange != 0;
  return {
      std::string(kWgmmaInstructionHeader),
      wgmma_instruction_header({wgmma_tile_columns(spec.tile), spec.tile.tile_k, operand_type(spec),
                                spec.accumulator, exchanged ? b_along_n : a_along_m,
                                exchanged ? a_along_m : b_along_n})};
}

MatrixPlace place_of_a(const Problem& p) {
  return place_of(Buffer::a, 'a', p.lda, p.stride_a, p.batch);
}
MatrixPlace place_of_b(const Problem& p) {
  return place_of(Buffer::b, 'b', p.ldb, p.stride_b, p.batch);
}

TensorMapArgument map_of_a(const KernelSpec& spec, const Shape& s, const MatrixPlace& at) {
  const Lines lines = contiguous_k_a(spec) ? Lines{"k", "m", s.k, s.m} : Lines{"m", "k", s.m, s.k};
  TensorMapArgument map = map_of_operand(spec, lines, at, spec.tile.tile_m, cluster_n(spec.tile));
  if (is_of_few_rows(spec.tile, contiguous_k_a(spec))) take_lines_of_few_rows(spec, s, map);
  return map;
}

int64_t slow_rows(const TileConfig& tile, const Problem& problem, bool may_end_with_c) {
  const int64_t m = problem.shape.m;
  const bool contiguous_k = problem.layout.a == Order::row_major;
  if (is_of_few_rows(tile, contiguous_k) && m < tile.tile_m) return 0;
  if (may_end_with_c &&
      ends_with_few_rows(tile, contiguous_k, traits_for(problem).vector_c,
                         size_bytes(result_type(problem)), problem.epilogue.scale)) {
    return 0;
  }
  const auto missing = [m](int unit) { return (unit - m % unit) % unit; };
  const bool ends_with_c =
      may_end_with_c && edge_ends_rows(tile, problem.epilogue.scale) && m >= tile.tile_m;
  return missing(ends_with_c ? kEdgeUnit : tile.tile_m);
}

TensorMapArgument map_of_b(const KernelSpec& spec, const Shape& s, const MatrixPlace& at) {
  const Lines lines = contiguous_k_b(spec) ? Lines{"k", "n", s.k, s.n} : Lines{"n", "k", s.n, s.k};
  return map_of_operand(spec, lines, at, spec.tile.tile_n, cluster_m(spec.tile));
}

bool stores_by_tma(const KernelSpec& spec) {
  const int bytes = size_bytes(result_type(spec));
  return stores_boxes(spec.tile, spec.traits.vector_c, bytes) ||
         stores_exchanged(spec.tile, spec.traits.vector_c, bytes, spec.traits.fetches_c);
}

std::optional<TensorMapArgument> map_of_c(const KernelSpec& spec, const Problem& p) {
  if (!stores_by_tma(spec)) return std::nullopt;
  TensorMapArgument map =
      map_of({"n", "m", p.shape.n, p.shape.m}, place_of(Buffer::c, 'c', p.ldc, p.stride_c, p.batch),
             result_type(spec));
  if (spec.tile.exchange != 0) {
    const WgmmaExchangedBoxes boxes(spec.tile, stages_bytes(spec));
    map.config.box = {WgmmaExchangedBoxes::kColumns, static_cast<uint32_t>(boxes.box_lines), 1};
    map.config.swizzle = swizzle_over(WgmmaExchangedBoxes::kLineBytes);
  } else {
    const WgmmaBoxes boxes(spec.tile, size_bytes(result_type(spec)), stages_bytes(spec),
                           spec.traits.fetches_c);
    map.config.box = {static_cast<uint32_t>(boxes.columns), WgmmaBoxes::kRows, 1};
    map.config.swizzle = swizzle_over(boxes.line_bytes());
  }
  return map;
}

BlockCount cluster_grid(const TileConfig& tile, const Problem& problem) {
  TileConfig of_cluster = tile;
  of_cluster.tile_m *= cluster_m(tile);
  of_cluster.tile_n *= cluster_n(tile);
  return tiling::tile_grid(of_cluster, problem, cluster_blocks(tile));
}

BlockCount sliced_cluster_grid(const TileConfig& tile, const Problem& problem) {
  BlockCount grid = cluster_grid(tile, problem);
  grid.blocks *= tile.slices;
  grid.formula += fmt::format(" * {}", tile.slices);
  return grid;
}

}  // namespace gemmtune::codegen::wgmma
