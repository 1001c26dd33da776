#include <doctest/doctest.h>

#include <string>

#include "sim_kernel.h"

// i8 products, whose sums are i32: wherever sums are added, and on each way by which they become
// results.

namespace gemmtune::tuner {
namespace {

constexpr int kWide = 16;  // elements of an access of A or B

struct Way {
  const char* strategy;
  const char* tile;
  int vector_c;  // 4: by boxes where there are some
  bool fetches_c;
};

constexpr Way kWays[] = {
    {"wgmma_tma", "tile_m=128 tile_n=32 tile_k=128 stages=2 raster=1 consumers=2", 4, false},
    {"wgmma_tma", "tile_m=128 tile_n=32 tile_k=128 stages=2 raster=1 consumers=2", 4, true},
    {"wgmma_tma", "tile_m=128 tile_n=24 tile_k=128 stages=2 raster=1 consumers=1", 1, false},
    {"wgmma_tma", "tile_m=64 tile_n=48 tile_k=128 stages=2 raster=1 consumers=1", 2, true},
    {"wgmma_tma",
     "tile_m=64 tile_n=16 tile_k=128 stages=3 raster=1 consumers=2 schedule=1 "
     "persistent_blocks=2",
     4, false},
    {"wgmma_tma", "tile_m=16 tile_n=64 tile_k=128 stages=2 raster=1 consumers=1 exchange=1", 4,
     false},
    {"wgmma_tma", "tile_m=32 tile_n=128 tile_k=128 stages=2 raster=1 consumers=2 exchange=1", 1,
     true},
    {"wgmma_split_k",
     "tile_m=8 tile_n=64 tile_k=128 stages=2 slices=2 reduction=2 raster=1 "
     "consumers=1 exchange=1",
     4, false},
    {"wgmma_split_k",
     "tile_m=64 tile_n=24 tile_k=128 stages=2 slices=2 reduction=2 raster=1 consumers=1", 4, false},
    {"wgmma_split_k", "tile_m=64 tile_n=16 tile_k=128 stages=2 slices=3 raster=1 consumers=1", 4,
     false},
    {"wgmma_stream_k",
     "tile_m=64 tile_n=16 tile_k=128 stages=2 raster=1 consumers=1 "
     "sharing_blocks=3",
     4, false},
};

codegen::KernelSpec spec_with(const Way& way) {
  KernelTraits traits = {true, false, kWide, kWide, way.vector_c};
  traits.fetches_c = way.fetches_c;
  return spec_of(way.strategy, way.tile, traits, DataType::i8, DataType::i32, MathMode::ieee,
                 kSm90a);
}

TEST_CASE("integers are exact wherever sums are added and become results") {
  for (const Way& way : kWays) {
    CAPTURE(way.tile);
    CAPTURE(way.vector_c);
    check_quick_cases(spec_with(way), kSm90a);
  }
}

TEST_CASE("integers whose lines are odd are copied") {
  check_quick_cases(
      spec_of(
          "wgmma_misaligned",
          "tile_m=64 tile_n=16 tile_k=128 stages=2 raster=1 consumers=1 cluster_m=1 cluster_n=1",
          {true, false, 1, 1, 1}, DataType::i8, DataType::i32, MathMode::ieee, kSm90a),
      kSm90a);
}

struct Fault {
  Mutant mutant;
  size_t way;  // index of kWays
};

TEST_CASE("planted faults are found") {
  constexpr Mutant kAsFloats = {"__uint_as_float(__float_as_uint(x) + __float_as_uint(y))",
                                "x + y"};
  const Fault faults[] = {
      {{"return __int_as_float(sum);", "return static_cast<float>(sum);"}, 0},
      {{"whole(alpha) * __float_as_uint(sum)", "__float_as_uint(sum)"}, 0},
      {{"+ whole(beta) * __float_as_uint(old)", ""}, 0},
      {{"whole(beta) * __float_as_uint(old)", "__float_as_uint(old)"}, 1},
      {{"whole(beta) * __float_as_uint(old)", "whole(beta) * static_cast<unsigned>(old)"}, 2},
      {kAsFloats, 7},
      {kAsFloats, 9},
      {{"static_cast<unsigned>(sum) + __float_as_uint(bits)",
        "static_cast<unsigned>(sum) + static_cast<unsigned>(bits)"},
       10},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.mutant.what);
    const auto spec = spec_with(kWays[fault.way]);
    CHECK_FALSE(verdict_of(load_mutant(spec, fault.mutant, kSm90a), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
