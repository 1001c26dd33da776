#include <doctest/doctest.h>

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

struct Fault {
  Mutant mutant;
  size_t way;  // index of kWays
  Scale scale;
};

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
  for (const Fault& fault : faults) {
    CAPTURE(fault.mutant.what);
    const auto spec =
        spec_with(kWays[fault.way], {kNoBias, kNoActivation, fault.scale}, MathMode::fast_accum);
    CHECK_FALSE(verdict_of(load_mutant(spec, fault.mutant, kSm90a), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
