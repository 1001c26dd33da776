#include <doctest/doctest.h>

#include <array>
#include <string>

#include "sim_kernel.h"

// Rows of C that begin at any element: of every width, with every shift against whole bodies and
// sectors, next to what must not be touched.

namespace gemmtune::tuner {
namespace {

// 16-bit: straight from registers through lines of one part and of three, and in turns; through a
// slab. f32: through a slab, and through the warp's tile.
struct Way {
  const char* strategy;
  const char* tile;
  DataType type;
};
constexpr std::array kWays = {
    Way{"wgmma_tma", "tile_m=64 tile_n=32 tile_k=64 stages=2 consumers=1 persistent_blocks=1",
        DataType::bf16},
    Way{"wgmma_tma",
        "tile_m=64 tile_n=96 tile_k=64 stages=2 consumers=2 schedule=1 persistent_blocks=1",
        DataType::f16},
    Way{"mma_multistage",
        "tile_m=32 tile_n=64 tile_k=32 warp_m=16 warp_n=32 stages=2 copy=1 order=1 fragments=1 "
        "raster=1",
        DataType::bf16},
    Way{"multistage",
        "tile_m=32 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 lanes=1 "
        "order=1 copy=1 fragments=2 raster=1",
        DataType::f32}};

// n columns of C in rows of ldc elements, over two tiles of rows.
TileProduct odd_rows(const Way& way, int64_t n, int64_t ldc, Epilogue epilogue = {}) {
  const TileConfig tile = *parse_tile(way.tile);
  Problem problem =
      make_problem({tile.tile_m + 11, n, tile.tile_k}, way.type, *parse_layout("tnt"));
  problem.ldc = ldc;
  problem.epilogue = epilogue;
  return {spec_of(way.strategy, way.tile, codegen::traits_for(problem), way.type, DataType::f32,
                  MathMode::ieee, kSm90a),
          problem};
}

void check(const TileProduct& product, float beta) {
  check_product(product.spec, product.problem, Fill::random, beta, kSm90a);
}

// 16 rows of an odd leading dimension have every shift.
TEST_CASE("C of every width") {
  for (const Way& way : kWays) {
    const int64_t tile_n = parse_tile(way.tile)->tile_n;
    for (int64_t n = 1; n <= tile_n + 18; n += n % tile_n > 20 ? 7 : 1)
      check(odd_rows(way, n, n | 1), n % 2 == 0 ? 0.0F : 0.5F);
  }
}

TEST_CASE("shifts of some elements, with a bias and an activation") {
  for (const Way& way : kWays) {
    const int64_t n = 2 * parse_tile(way.tile)->tile_n - 5;
    for (const int64_t ldc : {n + 1, n + 3, n + 4, n + 6, n + 12}) {
      check(odd_rows(way, n, ldc, {kBiasPerColumn, kRelu}), 0.5F);
      check(odd_rows(way, n, ldc, {kBiasPerRow, kNoActivation}), 0);
    }
  }
}

struct Fault {
  size_t way;  // index of kWays
  Mutant mutant;
};

constexpr Fault kFaults[] = {
    {0, {"if (part == 0 && odd != 0)", "if (false)"}},
    {0, {"if (i >= odd) to[", "to["}},
    {0, {"if (i < odd) to[", "to["}},
    {0, {"+ odd < shift)", "< shift)"}},
    {0, {"if (part > 0 || unit >= shift)", ""}},
    {0, {"min(complete, place.shift + width)", "complete"}},
    {1, {"move_rest(place);", ""}},
    {1, {"if (unit >= place.shift) return;", "if (unit > 0) return;"}},
    {1, {"kRows.columns + (part + 1 < kParts ? 0 : place.shift)", "kRows.columns"}},
    {1, {"exists ? width - part * kRows.columns : 0", "kRows.columns"}},
    {2, {"if (at + kBody <= width)", "if (at < width)"}},
    {2, {"const int at = e < head ? e : tail + e - head;", "const int at = tail + e - head;"}},
    {3, {"if (width < kColumns && more < width)", "if (false)"}},
    {3, {"if (at < width) store", "store"}},
};

TEST_CASE("planted faults are found") {
  for (const Fault& fault : kFaults) {
    CAPTURE(fault.mutant.what);
    const Way& way = kWays.at(fault.way);
    const int64_t tile_n = parse_tile(way.tile)->tile_n;
    bool found = false;
    for (const int64_t n : {2 * tile_n - 3, tile_n + 6}) {
      const TileProduct product = odd_rows(way, n, n | 1);
      const SimVerifier kernel = load_mutant(product.spec, fault.mutant, kSm90a);
      const auto verdict =
          kernel.verify({"odd rows", product.problem, 1.25F, 0.5F, Fill::random, 7}, {});
      REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
      found = found || !verdict->correct();
    }
    CHECK(found);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
