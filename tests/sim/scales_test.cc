#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>

#include "sim_kernel.h"

// Scales of 8-bit operands, in tiles as they are and exchanged, where results are stored and where
// slices of k are added.

namespace gemmtune::tuner {
namespace {

constexpr KernelTraits kWide8 = {true, false, 16, 16, 8};

struct Way {
  const char* strategy;
  const char* tile;
};

constexpr Way kWays[] = {
    {"wgmma_tma", "tile_m=128 tile_n=24 tile_k=128 stages=2 raster=1 consumers=2"},
    {"wgmma_tma", "tile_m=128 tile_n=72 tile_k=128 stages=2 raster=1 consumers=1"},
    {"wgmma_tma",
     "tile_m=64 tile_n=16 tile_k=128 stages=3 raster=1 consumers=2 schedule=1 "
     "persistent_blocks=2"},
    {"wgmma_tma", "tile_m=16 tile_n=64 tile_k=128 stages=2 raster=1 consumers=1 exchange=1"},
    {"wgmma_tma", "tile_m=72 tile_n=128 tile_k=128 stages=2 raster=1 consumers=2 exchange=1"},
    {"wgmma_split_k",
     "tile_m=8 tile_n=64 tile_k=128 stages=2 slices=2 reduction=2 raster=1 "
     "consumers=1 exchange=1"},
    {"wgmma_split_k", "tile_m=64 tile_n=16 tile_k=128 stages=2 slices=3 raster=1 consumers=1"},
    {"wgmma_stream_k",
     "tile_m=64 tile_n=16 tile_k=128 stages=2 raster=1 consumers=1 "
     "sharing_blocks=3"},
};

codegen::KernelSpec spec_with(const Way& way, const Epilogue& epilogue, MathMode math) {
  KernelTraits traits = kWide8;
  traits.epilogue = epilogue;
  return spec_of(way.strategy, way.tile, traits, DataType::e4m3, DataType::f32, math, kSm90a);
}

TEST_CASE("scales of operands and of their rows, wherever sums become results") {
  for (const Way& way : kWays) {
    CAPTURE(way.tile);
    for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
      check_quick_cases(spec_with(way, {kNoBias, kNoActivation, kScalePerRow}, math), kSm90a);
    }
    check_quick_cases(
        spec_with(way, {kBiasPerColumn, kRelu, kScalePerTensor}, MathMode::fast_accum), kSm90a);
  }
}

constexpr Scale kBlockScales[] = {kScale1x128, kScale1x128By128x128, kScale128x128By1x128};

constexpr Way kBlockWays[] = {
    {"wgmma_tma", "tile_m=128 tile_n=32 tile_k=128 stages=2 raster=1 consumers=2"},
    // Two blocks for each consumer.
    {"wgmma_tma", "tile_m=16 tile_n=256 tile_k=128 stages=2 raster=1 consumers=1 exchange=1"},
    {"wgmma_tma",
     "tile_m=64 tile_n=16 tile_k=128 stages=3 raster=1 consumers=2 schedule=1 "
     "persistent_blocks=2"},
    {"wgmma_tma",
     "tile_m=16 tile_n=256 tile_k=128 stages=2 raster=1 consumers=2 exchange=1 cluster_m=2"},
    {"wgmma_split_k",
     "tile_m=8 tile_n=64 tile_k=128 stages=2 slices=2 reduction=2 raster=1 "
     "consumers=1 exchange=1"},
    {"wgmma_split_k", "tile_m=64 tile_n=16 tile_k=128 stages=2 slices=3 raster=1 consumers=1"},
    {"wgmma_stream_k",
     "tile_m=64 tile_n=16 tile_k=128 stages=2 raster=1 consumers=1 "
     "sharing_blocks=3"},
    // Sums of two parts at once do not fit.
    {"wgmma_tma", "tile_m=80 tile_n=128 tile_k=128 stages=2 raster=1 consumers=1 exchange=1"},
    {"wgmma_tma", "tile_m=128 tile_n=80 tile_k=128 stages=2 raster=1 consumers=1"},
    // Tiles that end with C, unless they would cut blocks.
    {"wgmma_tma", "tile_m=64 tile_n=32 tile_k=128 stages=2 raster=1 consumers=1 edge=1"},
};

// Whether blocks of 128 rows or columns with a scale each lie in whole tiles.
bool keeps_blocks(const Way& way, Scale scale) {
  const TileConfig tile = *parse_tile(way.tile);
  return (scale != kScale1x128By128x128 || tile.tile_n != 80) &&
         (scale != kScale128x128By1x128 || tile.tile_m != 80);
}

// Over two blocks of 128 each way, and four of k, whose scales of squares lie in units of four.
CaseSizes block_sizes(const TileConfig& tile) {
  CaseSizes sizes = ragged_sizes(tile);
  sizes.m = std::max<int64_t>(sizes.m, 131);
  sizes.n = std::max<int64_t>(sizes.n, 136);
  sizes.k = std::max<int64_t>(sizes.k, 528);
  return sizes;
}

TEST_CASE("scales of blocks of k, of lines and of 128 lines each") {
  for (const Way& way : kBlockWays) {
    for (const Scale scale : kBlockScales) {
      if (!keeps_blocks(way, scale)) continue;
      const auto spec = spec_with(way, {kBiasPerColumn, kNoActivation, scale}, MathMode::ieee);
      CAPTURE(way.tile);
      CAPTURE(to_string(spec.traits.epilogue));
      const Verdict verdict = verdict_of(load(spec, kSm90a), spec, block_sizes(spec.tile));
      CHECK_MESSAGE(verdict.correct(), verdict.detail);
    }
  }
}

struct Fault {
  Mutant mutant;
  size_t way;  // index of the ways
  Scale scale;
};

void check_found(std::span<const Fault> faults, std::span<const Way> ways, MathMode math,
                 CaseSizes (*sizes)(const TileConfig&)) {
  for (const Fault& fault : faults) {
    CAPTURE(fault.mutant.what);
    const auto spec = spec_with(ways[fault.way], {kNoBias, kNoActivation, fault.scale}, math);
    const SimVerifier kernel = load_mutant(spec, fault.mutant, kSm90a);
    CHECK_FALSE(verdict_of(kernel, spec, sizes(spec.tile)).correct());
  }
}

TEST_CASE("planted faults are found") {
  const Fault faults[] = {
      {{"sums.at[i].at[j] * a * b", "sums.at[i].at[j] * a"}, 0, kScalePerTensor},
      // Of the other operand, or of other rows and columns.
      {{"kExchanged ? args.scale_b : args.scale_a", "args.scale_b"}, 0, kScalePerRow},
      {{"kExchanged ? args.scale_b : args.scale_a", "args.scale_a"}, 3, kScalePerRow},
      {{"i % 2 * 8, rows)", "0, rows)"}, 0, kScalePerRow},
      {{"+ i / 2 * kWgmmaRows", ""}, 1, kScalePerRow},
      {{"of_columns[j / 64][v]", "of_columns[0][v]"}, 1, kScalePerRow},
      {{"% 4 + j / 2 % 32", "% 4"}, 1, kScalePerRow},
      // Beyond the last row.
      {{"at < count ?", "at <= count ?"}, 0, kScalePerRow},
  };
  check_found(faults, kWays, MathMode::fast_accum, ragged_sizes);
}

TEST_CASE("planted faults of scales of blocks are found") {
  const Fault faults[] = {
      // Those of another part of k, as the producer and the consumers go through them.
      {{"from += step;", ""}, 0, kScale1x128},
      {{"++next;", ""}, 0, kScale1x128By128x128},
      {{"all.index(first(line, all), k)", "all.index(first(line, all), 0)"}, 5, kScale1x128},
      {{"all.index(min(line, last), k)", "all.index(min(line, last), 0)"}, 6, kScale128x128By1x128},
      // Of another stage, or read once it may be filled anew.
      {{"of_rows + stage * Stage::kBytes", "of_rows"}, 0, kScale1x128},
      {{"of_columns + stage * Stage::kBytes;", "of_columns;"}, 0, kScale1x128},
      {{"if constexpr (Parts::kReadsAsItAdds) parts.add(sums, part, scales);", ""}, 0, kScale1x128},
      // Of other lines.
      {{"line + lower * 8", "line"}, 0, kScale1x128By128x128},
      {{"threadIdx.x % 4 * 8", "0"}, 0, kScale1x128},
      {{"line + i * kScaleBlock <= last ? i * all.stride() : 0", "0"}, 1, kScale1x128By128x128},
      {{"scales.of_square[i / 2 * kWgmmaRows / kScaleBlock]", "scales.of_square[0]"},
       1,
       kScale1x128By128x128},
      {{"kSquaresOfRows ? column + first_row : column", "column"}, 3, kScale1x128By128x128},
      // Beyond those that there are.
      {{"min(4 * (line + lower * 8), row_bytes - 4)", "4 * (line + lower * 8)"}, 0, kScale1x128},
      {{"load_shared_pair(lane_columns + j * 4, last_columns)",
        "load_shared_pair(lane_columns + j * 4)"},
       0,
       kScale1x128},
      {{"line < all.lines ? line : 0", "line"}, 3, kScale1x128},
      // Of tiles that cut blocks.
      {{"return tile.edge != 0 && !scales_squares_of_b(scale);", "return tile.edge != 0;"},
       9,
       kScale1x128By128x128},
      {{"return tile.edge != 0 && !scales_squares_of_a(scale);", "return tile.edge != 0;"},
       9,
       kScale128x128By1x128},
  };
  check_found(faults, kBlockWays, MathMode::ieee, block_sizes);
}

}  // namespace
}  // namespace gemmtune::tuner
