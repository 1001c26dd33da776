#include <algorithm>
#include <array>
#include <string>

#include "parts/shared/wgmma_tiles.h"
#include "sim_kernel.h"

// Results of exchanged tiles that TMA stores (wgmma_exchanged_store.cuh): boxes of 8 and 16 lines,
// parts that do not divide a tile's rows, one buffer and two, and several 64 columns per consumer.

namespace gemmtune::tuner {
namespace {

constexpr KernelTraits kTraits{true, false, 8, 8, 8};

codegen::KernelSpec exchanged(const std::string& tile, const KernelTraits& traits = kTraits,
                              DataType type = DataType::bf16, DataType sums = DataType::f32) {
  return spec_of("wgmma_tma", tile + " exchange=1", traits, type, sums, MathMode::ieee, kSm90a);
}

int bytes_of_stages(const TileConfig& tile) {
  return tile.stages * wgmma_stage_bytes(tile, true, true, 2);
}
WgmmaExchangedBoxes boxes_of(const TileConfig& tile) {
  return {tile, bytes_of_stages(tile)};
}

struct Way {
  const char* tile;
  int box_lines;
  int lines;
  int buffers;
};
constexpr std::array kWays = {
    Way{"tile_m=72 tile_n=128 tile_k=64 stages=2 consumers=2 persistent_blocks=1", 8, 32, 2},
    Way{"tile_m=208 tile_n=128 tile_k=64 stages=5 consumers=2 cluster_n=2", 16, 32, 2},
    Way{"tile_m=144 tile_n=192 tile_k=64 stages=5 consumers=3 persistent_blocks=2", 16, 32, 1},
    Way{"tile_m=80 tile_n=128 tile_k=64 stages=8 consumers=1 cluster_m=2", 16, 32, 2},
    Way{"tile_m=104 tile_n=256 tile_k=64 stages=4 consumers=2 persistent_blocks=1", 8, 32, 2}};

TEST_CASE("every layout, in f16 and bf16, with sums of both") {
  size_t way = 0;
  for (const Way& each : kWays) {
    CAPTURE(each.tile);
    const bool f16 = way % 2 == 0;
    const auto spec =
        exchanged(each.tile, {way != 0, way % 2 == 1, 8, 8, 8},
                  f16 ? DataType::f16 : DataType::bf16, way == 2 ? DataType::f16 : DataType::f32);
    const WgmmaExchangedBoxes boxes = boxes_of(spec.tile);
    CHECK(boxes.box_lines == each.box_lines);
    CHECK(boxes.lines == each.lines);
    CHECK(boxes.buffers == each.buffers);
    check_quick_cases(spec, kSm90a);
    ++way;
  }
}

TEST_CASE("biases of columns and rows, and activations") {
  for (const Epilogue epilogue :
       {Epilogue{kBiasPerColumn, kGeluTanh}, Epilogue{kBiasPerRow, kSilu}}) {
    for (const size_t way : {0, 4}) {
      auto spec = exchanged(kWays.at(way).tile);
      spec.traits.epilogue = epilogue;
      check_quick_cases(spec, kSm90a);
      check_spills_nothing(spec, kSm90a);
    }
  }
}

TEST_CASE("8-bit operands") {
  check_quick_cases(
      spec_of("wgmma_tma",
              "tile_m=72 tile_n=128 tile_k=128 stages=2 consumers=2 exchange=1 persistent_blocks=1",
              {true, false, 16, 16, 8}, DataType::e4m3, DataType::f32, MathMode::ieee, kSm90a),
      kSm90a);
}

TEST_CASE("no bank conflicts") {
  const auto [spec, problem] =
      tile_product("wgmma_tma", "tile_m=80 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1",
                   "tnt", DataType::bf16);
  check_no_conflicts(legal(spec, kSm90a), problem, kSm90a);
}

// So that no tile that fits with a slab is too large without one.
TEST_CASE(
    "results take what is left beside the stages, and no more than a slab where that is little") {
  for (int rows = kFewestExchangedRows; rows <= kMostWgmmaColumns; rows += 8) {
    for (const int consumers : {1, 2, 3}) {
      TileConfig tile = *parse_tile("tile_k=64 stages=2 exchange=1");
      tile.tile_m = rows;
      tile.tile_n = 128 * consumers;
      tile.consumers = consumers;
      CAPTURE(rows);
      const int barriers = wgmma_barriers_bytes(tile);
      const int slab = kWarpsOfWarpgroup * WgmmaSlab(tile).warp_bytes();
      const WgmmaExchangedBoxes plenty(tile, 0);
      CHECK(plenty.buffers == 2);
      for (int left = slab; left <= 2 * slab; left += 1024) {
        const WgmmaExchangedBoxes boxes(tile, kMostWgmmaSharedBytes - barriers - consumers * left);
        CHECK(boxes.bytes() <= left);
        CHECK(boxes.lines % boxes.box_lines == 0);
        CHECK(boxes.lines >= boxes.box_lines);
        CHECK(boxes.bytes() <= plenty.bytes());
      }
    }
  }
}

// Blocks that share an SM leave each other room.
TEST_CASE("two blocks per SM have half of its shared memory each") {
  const TileConfig tile =
      *parse_tile("tile_m=80 tile_n=128 tile_k=64 stages=4 consumers=1 exchange=1 min_blocks=2");
  const WgmmaExchangedBoxes boxes(tile, 108 * 1024);
  CHECK(boxes.buffers == 1);
  CHECK(boxes.bytes() <= 4 * 1024);
}

constexpr Mutant kFaults[] = {
    {"wait_for_free_buffer<kBoxes.buffers>(count);", ";"},
    {"      tensor_store_fence();\n      consumer_sync();", "      tensor_store_fence();"},
    {"      tensor_store_fence();\n      consumer_sync();", "      consumer_sync();"},
    {"lane / 16 % kEights * 8 + lane % 8", "lane % 8"},
    {"chunk ^ line % kSwizzleLines", "chunk"},
    {"if (first + line < kTile.tile_m)", "if (line == 0)"},
    {"row + line < writer.args.m && n", "n"},
    {"if (first + line >= kTile.tile_m) continue;", "if (line > 0) continue;"},
};

TEST_CASE("planted faults are found") {
  for (const Mutant& mutant : kFaults) {
    CAPTURE(mutant.what);
    CAPTURE(mutant.with);
    const auto spec = exchanged(kWays[3].tile);
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
