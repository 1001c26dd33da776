#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "parts/shared/aligned_lines.h"
#include "parts/shared/wgmma_tiles.h"
#include "sim_kernel.h"

// What is particular to wgmma_tma and wgmma_split_k: persistent grids of which a block computes
// several tiles, consumers that take turns, clusters that share tiles, exchanged operands, the ways
// that results reach C, and the faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

codegen::KernelSpec hopper(std::string_view strategy, const std::string& tile,
                           const KernelTraits& traits, DataType type = DataType::bf16,
                           DataType sums = DataType::f32) {
  return spec_of(strategy, tile, traits, type, sums, MathMode::ieee, kSm90a);
}

// Cooperative and ping-pong, with one block or a few for all tiles; clusters; exchanged.
constexpr std::array kWays = {
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 persistent_blocks=1",
    "tile_m=128 tile_n=48 tile_k=64 stages=3 consumers=2 persistent_blocks=2 raster=2",
    "tile_m=64 tile_n=40 tile_k=64 stages=3 consumers=2 schedule=1 persistent_blocks=1",
    "tile_m=64 tile_n=96 tile_k=64 stages=2 consumers=3 schedule=1 persistent_blocks=1",
    "tile_m=64 tile_n=32 tile_k=64 stages=3 consumers=2 schedule=1 persistent_blocks=2 cluster_n=2",
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 persistent_blocks=4 cluster_m=2 "
    "cluster_n=2",
    "tile_m=16 tile_n=64 tile_k=128 stages=2 consumers=1 exchange=1 persistent_blocks=1",
    "tile_m=32 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 cluster_m=1 cluster_n=2",
    "tile_m=64 tile_n=72 tile_k=64 stages=3 consumers=1 cluster_m=2 persistent_blocks=2"};

// Of wgmma_split_k: sums that meet in the workspace and in a cluster.
constexpr std::array kSlices = {
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 slices=2 reduction=2",
    "tile_m=128 tile_n=24 tile_k=64 stages=2 consumers=2 slices=3",
    "tile_m=8 tile_n=128 tile_k=64 stages=3 consumers=2 exchange=1 slices=4 reduction=2",
    "tile_m=32 tile_n=64 tile_k=128 stages=2 consumers=1 exchange=1 slices=5",
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 slices=3 cluster_m=2 cluster_n=2",
    "tile_m=64 tile_n=80 tile_k=64 stages=2 consumers=1 slices=3 raster=2"};

TEST_CASE("every layout and alignment of C") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 8}) {
        const KernelTraits traits{a, b, 8, 8, width};
        const DataType type = width == 2 ? DataType::f16 : DataType::bf16;
        // Eight and four ways over twelve kernels: each meets several.
        check_quick_cases(hopper("wgmma_tma", kWays.at(way % kWays.size()), traits, type), kSm90a);
        check_quick_cases(hopper("wgmma_split_k", kSlices.at(way % kSlices.size()), traits, type),
                          kSm90a);
        ++way;
      }
    }
  }
}

TEST_CASE("each way in the other type, with f16 sums and results of f32") {
  for (const char* tile : kWays) {
    check_quick_cases(hopper("wgmma_tma", tile, {true, false, 8, 8, 8}, DataType::f16), kSm90a);
  }
  for (const char* tile : {kWays[1], kWays[6]}) {
    check_quick_cases(
        hopper("wgmma_tma", tile, {false, true, 8, 8, 8}, DataType::f16, DataType::f16), kSm90a);
    auto spec = hopper("wgmma_tma", tile, {true, true, 8, 8, 4});
    spec.result = DataType::f32;
    check_quick_cases(spec, kSm90a);
  }
  for (const char* tile : kSlices) {
    check_quick_cases(
        hopper("wgmma_split_k", tile, {false, true, 8, 8, 8}, DataType::f16, DataType::f16),
        kSm90a);
  }
}

// The second one's columns begin within a box of B or in another one.
TEST_CASE("tiles of two instructions' columns") {
  constexpr auto kWide =
      "tile_m=64 tile_n=288 tile_k=64 stages=2 consumers=1 cluster_m=2 persistent_blocks=2";
  constexpr auto kWider = "tile_m=64 tile_n=320 tile_k=128 stages=2 consumers=1 cluster_m=2";
  for (const bool b : {true, false}) {
    check_quick_cases(hopper("wgmma_tma", kWide, {true, b, 8, 8, 8}), kSm90a);
    check_quick_cases(hopper("wgmma_tma", kWider, {false, b, 8, 8, 1}), kSm90a);
    check_quick_cases(hopper("wgmma_tma", kWide, {true, b, 8, 8, 8}, DataType::f16, DataType::f16),
                      kSm90a);
  }
}

constexpr auto kEdge =
    "tile_m=64 tile_n=48 tile_k=64 stages=3 consumers=2 schedule=1 persistent_blocks=2 edge=1";

// Of one tile each way and of several, in clusters of which blocks lie outside, exchanged, with
// rows of C that begin anywhere; beta of 0 and not.
TEST_CASE("tiles that end with C") {
  constexpr const char* kTiles[] = {
      kEdge, "tile_m=128 tile_n=64 tile_k=64 stages=2 consumers=2 cluster_m=2 cluster_n=2 edge=1",
      "tile_m=32 tile_n=64 tile_k=128 stages=2 consumers=1 exchange=1 edge=1"};
  constexpr Shape kShapes[] = {{200, 152, 72}, {65, 49, 64}, {40, 200, 136}};
  for (const char* tile : kTiles) {
    for (const char* layout : {"tnt", "nnt", "ttt", "ntt"}) {
      for (const Shape& size : kShapes) {
        Shape shape = size;
        if (layout[0] == 'n') shape.m = (shape.m + 7) / 8 * 8;
        if (layout[1] == 't') shape.n = (shape.n + 7) / 8 * 8;
        const Problem problem = make_problem(shape, DataType::bf16, *parse_layout(layout));
        const auto spec = hopper("wgmma_tma", tile, codegen::traits_for(problem));
        for (const float beta : {0.0F, 0.5F})
          check_product(spec, problem, Fill::random, beta, kSm90a);
      }
    }
  }
  check_quick_cases(hopper("wgmma_misaligned", kEdge, {true, true, 1, 1, 1}), kSm90a);
  check_quick_cases(hopper("wgmma_misaligned", kEdge, {false, false, 2, 1, 8}), kSm90a);
}

TEST_CASE("tiles that end with C add nothing twice, and begin where TMA can") {
  const Problem odd = make_problem({131, 101, 67}, DataType::bf16, *parse_layout("ntt"));
  const auto spec = hopper("wgmma_misaligned", kEdge, codegen::traits_for(odd));
  CHECK(is_found({"if (args.beta == 0.0f) out.end", "out.end"}, spec, odd, 0.5F));
  CHECK(is_found({"inline constexpr int kEdgeUnit = 8;", "inline constexpr int kEdgeUnit = 1;"},
                 spec, odd, 0));
}

TEST_CASE("parts of a tile load as many lines as A has, and hardly more") {
  for (const int side : {8, 16, 24, 32, 64, 96}) {
    for (const int blocks : {1, 2, 4}) {
      const TmaTile tile(side, 128, true, 2);
      const int parts = tile.parts(blocks);
      for (int m = 1; m <= 2 * side; ++m) {
        const int lines = tile.part_lines(blocks, m);
        CHECK(lines * parts >= std::min(m, side));
        CHECK(lines * parts <= side);
        CHECK((parts == 1 || lines % 8 == 0));
        CHECK(lines * parts < m + (parts == 1 ? 1 : 8 * parts));
      }
    }
  }
}

// Tiles of more rows than A has: all of them, and one; and of which the last one sticks out.
TEST_CASE("few rows") {
  constexpr const char* kTiles[] = {
      "tile_m=24 tile_n=64 tile_k=128 stages=3 consumers=1 exchange=1",
      "tile_m=32 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 cluster_n=2",
      "tile_m=64 tile_n=32 tile_k=64 stages=3 consumers=1 cluster_m=2 cluster_n=4"};
  for (const std::string strategy : {"wgmma_tma", "wgmma_split_k"}) {
    for (const char* tile : kTiles) {
      const std::string slices = strategy == "wgmma_split_k" ? " slices=2" : "";
      for (const int64_t m : {1, 5, 8, 17, 31, 63, 69, 70}) {
        const int64_t n = m % 4 == 1 ? 137 : 136;  // a C whose rows begin anywhere
        const Problem problem = make_problem({m, n, 264}, DataType::bf16, *parse_layout("tnt"));
        const auto spec = hopper(strategy, tile + slices, codegen::traits_for(problem));
        for (const float beta : {0.0F, 0.5F})
          check_product(spec, problem, Fill::random, beta, kSm90a);
      }
    }
  }
}

TEST_CASE("planted faults in tiles of more rows than A has are found") {
  constexpr Mutant kFewRowsFaults[] = {
      {"store_shared_words(to + byte, 0, 0, 0, 0);", ";"},
      {"tensor_store_fence();\n      // cluster", "// cluster"},
      {"bar.sync %0, %1;\" ::\"n\"(kBarrier)", "// %0 %1\" ::\"n\"(kBarrier)"},
      {"part_lines(kSharers, lines)", "part_lines(kSharers, lines + 16)"},
      {"byte = first;", "byte = first + 16;"},
  };
  const Problem problem = make_problem({5, 136, 264}, DataType::bf16, *parse_layout("tnt"));
  const auto spec = hopper(
      "wgmma_tma", "tile_m=32 tile_n=64 tile_k=64 stages=2 consumers=1 exchange=1 cluster_n=2",
      codegen::traits_for(problem));
  for (const Mutant& mutant : kFewRowsFaults) {
    CAPTURE(mutant.what);
    const SimVerifier kernel = load_mutant(spec, mutant, kSm90a);
    bool found = false;
    for (const ptxsim::AsyncMode mode : kernel.async_modes()) {
      ptxsim::Options options;
      options.async = mode;
      const auto verdict = kernel.verify({"product", problem, 1, 0, Fill::random, 7}, options);
      REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
      found = found || !verdict->correct();
    }
    CHECK(found);
  }
}

TEST_CASE("lines along m or n have 64 bytes where those hold less of what is beside the tile") {
  for (const int side : {32, 96, 160, 224}) {
    const TmaTile tile(side, 64, false, 2);
    CHECK(tile.line_bytes == 64);
    CHECK(tile.bytes() == side * 64 * 2);
    CHECK(TmaTile(side, 64, true, 2).line_bytes == 128);
  }
  // Not where a line would not be full, nor where there would be many.
  for (const int side : {8, 24, 64, 72, 80, 128, 144, 256, 288, 320})
    CHECK(TmaTile(side, 64, false, 2).line_bytes == 128);
}

constexpr auto kHalfLines = "tile_m=64 tile_n=96 tile_k=64 stages=2 consumers=1 cluster_m=2";

TEST_CASE("tiles in lines of 64 bytes") {
  constexpr const char* kTiles[] = {
      kHalfLines,
      "tile_m=64 tile_n=32 tile_k=128 stages=2 consumers=1 persistent_blocks=2",
      "tile_m=64 tile_n=224 tile_k=64 stages=2 consumers=2 schedule=1",
      "tile_m=96 tile_n=64 tile_k=64 stages=2 consumers=1 exchange=1 cluster_m=2 cluster_n=2",
      "tile_m=160 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 cluster_n=2",
      "tile_m=128 tile_n=96 tile_k=64 stages=3 consumers=2 schedule=1 cluster_m=4"};
  for (const char* text : kTiles) {
    CAPTURE(text);
    const auto spec = hopper("wgmma_tma", text, {false, true, 8, 8, 8});
    check_quick_cases(spec, kSm90a);
  }
  for (const char* tile :
       {"tile_m=64 tile_n=32 tile_k=64 stages=2 consumers=1 slices=2 reduction=2",
        "tile_m=32 tile_n=64 tile_k=64 stages=2 consumers=1 exchange=1 slices=3"})
    check_quick_cases(hopper("wgmma_split_k", tile, {false, true, 8, 8, 8}), kSm90a);
}

// Results pass through one buffer per warp where two do not fit beside the stages.
TEST_CASE("five stages of 128x168 and 128x176, four of 192x176") {
  constexpr std::pair<const char*, int> kTiles[] = {
      {"tile_m=128 tile_n=168 tile_k=64 stages=5 consumers=2 persistent_blocks=2", 2},
      {"tile_m=128 tile_n=176 tile_k=64 stages=4 consumers=2 persistent_blocks=2", 2},
      {"tile_m=128 tile_n=176 tile_k=64 stages=5 consumers=2 persistent_blocks=2", 1},
      {"tile_m=128 tile_n=176 tile_k=64 stages=5 consumers=2 schedule=1 cluster_m=2", 1},
      {"tile_m=192 tile_n=176 tile_k=64 stages=4 consumers=3 cluster_n=2", 1}};
  for (const auto& [tile, buffers] : kTiles) {
    auto spec = hopper("wgmma_tma", tile, {true, false, 8, 8, 8});
    spec.traits.epilogue = {kBiasPerColumn, kNoActivation};
    const int stages_bytes = spec.tile.stages * (spec.tile.tile_m + spec.tile.tile_n) * 128;
    CHECK(WgmmaBoxes(spec.tile, 2, stages_bytes, false).buffers == buffers);
    check_quick_cases(spec, kSm90a);
  }
}

TEST_CASE("boxes: widths divide the tile, and are powers of two or odd numbers of units") {
  for (int tile_n = 8; tile_n <= 512; tile_n += 8) {
    TileConfig tile = *parse_tile("tile_m=128 tile_k=64 stages=2 consumers=2");
    tile.tile_n = tile_n;
    CAPTURE(tile_n);
    for (const int bytes : {2, 4}) {
      const WgmmaBoxes boxes(tile, bytes, 0, false);
      CHECK(tile_n % boxes.columns == 0);
      CHECK(boxes.line_bytes() <= 208);
      CHECK((boxes.swizzled() ? boxes.line_bytes() <= 128
                              : boxes.columns / WgmmaBoxes::kUnit % 2 == 1));
      // Where little is left beside the stages, lines are as short as they can be.
      const WgmmaBoxes narrow(tile, bytes, kMostWgmmaSharedBytes, false);
      CHECK(narrow.buffers == 1);
      CHECK(narrow.swizzled());
      CHECK(narrow.bytes() <= boxes.bytes());
    }
  }
}

// A line of 128 bytes holds half as many values of k.
TEST_CASE("tf32") {
  const auto check = [](std::string_view strategy, const char* tile, int width) {
    check_quick_cases(spec_of(strategy, tile, {true, false, 4, 4, width}, DataType::f32,
                              DataType::f32, MathMode::tf32, kSm90a),
                      kSm90a);
  };
  for (const int width : {1, 4}) {
    for (const char* tile : kWays) check("wgmma_tma", tile, width);
  }
  for (const char* tile : kSlices) check("wgmma_split_k", tile, 4);
  check("wgmma_tma", "tile_m=64 tile_n=64 tile_k=32 stages=2 consumers=1", 4);
}

// A line of 128 bytes holds twice as many values of k.
std::string of_bytes(std::string tile) {
  const size_t at = tile.find("tile_k=64");
  return at == std::string::npos ? tile : tile.replace(at, 9, "tile_k=128");
}

codegen::KernelSpec of_8_bit(std::string_view strategy, const std::string& tile,
                             const KernelTraits& traits, DataType type,
                             MathMode math = MathMode::ieee) {
  return spec_of(strategy, of_bytes(tile), traits, type, DataType::f32, math, kSm90a);
}

TEST_CASE("8-bit operands, with promoted sums and without") {
  size_t way = 0;
  for (const char* tile : kWays) {
    const DataType type = way % 2 == 0 ? DataType::e4m3 : DataType::e5m2;
    const MathMode math = way % 3 == 2 ? MathMode::fast_accum : MathMode::ieee;
    const int width = way % 4 == 3 ? 1 : 8;
    check_quick_cases(of_8_bit("wgmma_tma", tile, {true, false, 16, 16, width}, type, math),
                      kSm90a);
    ++way;
  }
  for (const char* tile : kSlices) {
    const MathMode math = way++ % 3 == 0 ? MathMode::fast_accum : MathMode::ieee;
    check_quick_cases(
        of_8_bit("wgmma_split_k", tile, {true, false, 16, 16, 8}, DataType::e4m3, math), kSm90a);
  }
}

// One part is added while the next one is multiplied, in two places in turns.
TEST_CASE("8-bit operands: any number of parts of k") {
  constexpr std::array kTiles = {
      "tile_m=128 tile_n=64 tile_k=128 stages=3 consumers=2 persistent_blocks=1",
      "tile_m=64 tile_n=64 tile_k=128 stages=2 consumers=2 schedule=1 persistent_blocks=1"};
  for (const char* tile : kTiles) {
    const auto spec = of_8_bit("wgmma_tma", tile, {true, false, 16, 16, 8}, DataType::e4m3);
    REQUIRE(overlaps_parts(spec.tile));
    for (const int64_t k : {16, 128, 144, 384, 512, 640}) {
      const Problem problem = make_problem({200, 72, k}, DataType::e4m3, *parse_layout("tnt"));
      check_product(spec, problem, Fill::random, 0.5F, kSm90a);
    }
  }
  CHECK_FALSE(overlaps_parts(*parse_tile("tile_m=128 tile_n=176 tile_k=128 consumers=2")));
}

TEST_CASE("8-bit operands: C of f16 and f32, biases and activations") {
  for (const DataType result : {DataType::f16, DataType::f32}) {
    for (const char* tile : {kWays[1], kWays[6]}) {
      auto spec = of_8_bit("wgmma_tma", tile, {true, false, 16, 16, 4}, DataType::e4m3);
      spec.result = result;
      spec.traits.epilogue = {kBiasPerColumn, kGeluTanh};
      check_quick_cases(spec, kSm90a);
    }
  }
}

TEST_CASE("8-bit operands that 16 bytes do not divide, on copies") {
  for (const auto& [width_a, width_b, width_c] :
       {std::array{1, 1, 1}, std::array{16, 2, 8}, std::array{4, 8, 2}}) {
    check_quick_cases(of_8_bit("wgmma_misaligned", kWays[1],
                               {true, false, width_a, width_b, width_c}, DataType::e5m2),
                      kSm90a);
  }
}

// Of A, of B, of both, in every layout; C of any alignment.
TEST_CASE("operands that 16 bytes do not divide, on copies") {
  constexpr std::array kTiles = {kWays[1], kWays[2], kWays[5]};
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const auto& [width_a, width_b, width_c] :
           {std::array{1, 1, 1}, std::array{8, 2, 8}, std::array{4, 8, 2}}) {
        check_quick_cases(hopper("wgmma_misaligned", kTiles.at(way++ % kTiles.size()),
                                 {a, b, width_a, width_b, width_c}),
                          kSm90a);
      }
    }
  }
}

constexpr std::array kPlaneWays = {
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 persistent_blocks=1 promotion=1",
    "tile_m=128 tile_n=48 tile_k=64 stages=3 consumers=2 persistent_blocks=2 promotion=2",
    "tile_m=64 tile_n=40 tile_k=64 stages=3 consumers=2 schedule=1 persistent_blocks=1 promotion=1",
    "tile_m=16 tile_n=64 tile_k=128 stages=2 consumers=1 exchange=1 promotion=4"};

codegen::KernelSpec of_planes(const char* tile, const KernelTraits& traits, MathMode math) {
  return spec_of("wgmma_planes", tile, traits, DataType::f32, DataType::f32, math, kSm90a);
}

// Quick cases have infinities, which meet the zeros of planes.
TEST_CASE("f32 as bf16 planes: every layout and alignment") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 4}) {
        const MathMode math = way % 3 == 1 ? MathMode::bf16x9 : MathMode::bf16x6;
        check_quick_cases(
            of_planes(kPlaneWays.at(way++ % kPlaneWays.size()), {a, b, width, width, width}, math),
            kSm90a);
      }
    }
  }
}

// The limit is that of f32 with nine products and, with six, 2^-24 of each product more.
TEST_CASE("bf16x6 and bf16x9 are as accurate as f32") {
  for (const MathMode math : {MathMode::bf16x6, MathMode::bf16x9}) {
    Problem problem = make_problem({64, 64, 1024}, DataType::f32, *parse_layout("tnt"));
    problem.math = math;
    const auto spec = of_planes("tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 promotion=4",
                                codegen::traits_for(problem), math);
    const auto verdict = load(spec, kSm90a).verify({"long k", problem, 1, 0, Fill::random, 5}, {});
    REQUIRE_MESSAGE(verdict.has_value(), verdict.error().message);
    CHECK_MESSAGE(verdict->correct(), verdict->detail);
    CHECK(verdict->max_error < 0x1p-22);
  }
}

TEST_CASE("biases of columns and rows, and activations") {
  for (const Epilogue epilogue :
       {Epilogue{kBiasPerColumn, kGeluTanh}, Epilogue{kBiasPerRow, kSilu}}) {
    for (const char* tile : {kWays[1], kWays[3], kWays[6]}) {
      for (const int width : {1, 8}) {
        auto spec = hopper("wgmma_tma", tile, {true, false, 8, 8, width});
        spec.traits.epilogue = epilogue;
        check_quick_cases(spec, kSm90a);
      }
    }
  }
}

// The assembler gives a block so many registers per thread as the launch bounds say; were it fewer,
// consumers would wait forever for those that they ask for.
TEST_CASE("registers that setmaxnreg shares out are those that the block has") {
  for (const char* tile : kWays) {
    const auto spec = hopper("wgmma_tma", tile, {true, false, 8, 8, 8});
    CHECK(spec.strategy->entry_points(spec).front().min_blocks >= 1);
    const WgmmaRegisters registers(spec.tile);
    if (!registers.shared_out()) continue;
    CHECK(registers.producer + spec.tile.consumers * registers.consumer <=
          (1 + spec.tile.consumers) * registers.at_start);
    codegen::KernelSpec for_arch = spec;
    for_arch.arch = kSm90a;
    const auto compiled = compiler().compile({codegen::emit(for_arch), kSm90a, {}});
    REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
    CHECK(compiled->entries.front().usage.registers == registers.at_start);
  }
}

// A search refuses kernels that spill, and these tiles are among the fastest: 192 sums a thread.
TEST_CASE("large tiles do not spill, with a bias or odd rows of C either") {
  for (const char* tile :
       {"tile_m=128 tile_n=192 tile_k=64 stages=4 raster=4 consumers=2 schedule=1 cluster_m=2 "
        "persistent_blocks=132",
        "tile_m=128 tile_n=192 tile_k=64 stages=4 raster=16 consumers=2 schedule=1 "
        "persistent_blocks=132"}) {
    for (const Epilogue epilogue : {Epilogue{}, Epilogue{kBiasPerColumn, kGeluTanh}}) {
      for (const int width : {1, 8}) {
        if (width == 1 && epilogue.bias != kNoBias)
          continue;  // its bias is loaded when it is stored
        auto spec = hopper("wgmma_tma", tile, {true, false, 8, 8, width});
        spec.traits.epilogue = epilogue;
        check_spills_nothing(spec, kSm90a);
      }
    }
  }
}

TEST_CASE("every kernel that may start early waits for those before it") {
  const KernelTraits traits{true, false, 1, 1, 1};
  const codegen::KernelSpec specs[] = {hopper("wgmma_tma", kWays[5], {true, false, 8, 8, 8}),
                                       hopper("wgmma_tma", kWays[6], {true, false, 8, 8, 8}),
                                       hopper("wgmma_split_k", kSlices[1], {true, false, 8, 8, 8}),
                                       hopper("wgmma_misaligned", kWays[1], traits),
                                       of_planes(kPlaneWays[0], traits, MathMode::bf16x6)};
  for (const codegen::KernelSpec& spec : specs) check_waits(spec, kSm90a);
}

constexpr auto kOneBuffer = "tile_m=128 tile_n=176 tile_k=64 stages=5 consumers=2";

struct PlantedFault {
  std::string_view strategy;
  const char* tile;
  Mutant mutant;
  std::string_view detail;  // part of it
};

constexpr PlantedFault kFaults[] = {
    {"wgmma_tma", kWays[1], {"mbarrier_wait(pipeline.full(ring.stage), ring.parity);", ""}, ""},
    {"wgmma_tma", kWays[0], {"mbarrier_wait(empty(ring.stage), ring.parity ^ 1);", ""}, ""},
    {"wgmma_tma", kWays[0], {"wgmma_wait<1>();", "wgmma_wait<2>();"}, ""},
    {"wgmma_tma", kWays[0], {"issued();\n    wgmma_wait<0>();", "issued();"}, ""},
    {"wgmma_tma", kWays[0], {"    wgmma_fence();\n", ""}, ""},
    {"wgmma_tma", kWays[0], {"tensor_store_fence();\n", "\n"}, ""},
    {"wgmma_tma", kWays[3], {"wait_for_free_buffer<kBoxes.buffers>(count);", ";"}, ""},
    {"wgmma_tma", kOneBuffer, {"wait_for_free_buffer<kBoxes.buffers>(count);", ";"}, ""},
    {"wgmma_tma", kWays[0], {"  cp_async_commit();\n  cp_async_wait<0>();\n", ""}, ""},
    {"wgmma_tma", kWays[0], {"row + line < writer.args.m && ", ""}, ""},
    {"wgmma_tma", kWays[2], {"      turns.await();\n", ""}, ""},
    {"wgmma_tma", kWays[5], {"pipeline.release(last, place);\n      last", "last"}, ""},
    {"wgmma_tma", kWays[5], {"kReaders * Place::kSharers", "kReaders"}, ""},
    {"wgmma_tma", kWays[5], {"    pipeline.drain(ring);\n", ""}, ""},
    {"wgmma_tma", kWays[8], {"if (kInTurns && stage % kSharers != sharer) return;", ""}, ""},
    {"wgmma_tma",
     kWays[8],
     {"finish_eights<kReadsC, 1>(", "if (false) finish_eights<kReadsC, 1>("},
     ""},
    {"wgmma_tma",
     kWays[0],
     {"mbarrier_arrive_expect(barrier, stage_bytes);",
      "mbarrier_arrive_expect(barrier, stage_bytes - 1024);"},
     ""},
    {"wgmma_tma", kWays[5], {"part < kParts; ++part", "part < 1; ++part"}, ""},
    {"wgmma_tma", kWays[0], {"pipeline.begin_releases();", ";"}, ""},
    {"wgmma_tma", kWays[1], {"return end;", "return end - k_begin - kTile.tile_k;"}, ""},
    {"wgmma_tma",
     kWays[0],
     {"constexpr unsigned long long kGroupBytes = 8 * kLineBytes;",
      "constexpr unsigned long long kGroupBytes = 4 * kLineBytes;"},
     ""},
    {"wgmma_tma",
     kWays[6],
     {"return bytes / kLineBytes * kBoxBytes + bytes % kLineBytes;", "return bytes % kLineBytes;"},
     ""},
    {"wgmma_split_k",
     kSlices[0],
     {"asm volatile(\"bar.sync 1, %0;\"", "if (false) asm volatile(\"bar.sync 1, %0;\""},
     "shared_race"},
    {"wgmma_split_k", kSlices[1], {"sums.clear();", ""}, ""},
    {"wgmma_split_k", kSlices[5], {"tile * kSlices + slice)", "slice * tiles + tile)"}, ""},
};

codegen::KernelSpec on_copies(std::string_view strategy) {
  if (strategy == "mma_misaligned") {
    return spec_of(strategy,
                   "tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=2 copy=1 fragments=1",
                   {true, false, 1, 1, 1}, DataType::bf16);
  }
  if (strategy == "wgmma_planes")
    return of_planes(kPlaneWays[0], {true, false, 1, 1, 1}, MathMode::bf16x6);
  return hopper(strategy, kWays[1], {true, false, 1, 1, 1});
}

constexpr std::pair<std::string_view, Mutant> kCopyFaults[] = {
    {"wgmma_misaligned", {"(shift & 2) != 0", "(shift & 2) == 0"}},
    {"wgmma_misaligned", {"(shift & 8) != 0", "(shift & 4) != 0"}},
    {"wgmma_misaligned", {"from >= kChunk", "true"}},
    {"wgmma_misaligned", {"end - from >= 2 * kChunk", "true"}},
    {"mma_misaligned",
     {"if (i + j == count) out.words[i / kOfWord] &= (1U << kBits * j) - 1;", ""}},
    {"wgmma_planes", {"sums.add(part);", "sums = part;"}},
    {"wgmma_planes", {"entry_a + plane_a + i,", "entry_a + i,"}},
    {"wgmma_planes", {"kOfB >> (4 * pair)", "kOfA >> (4 * pair)"}},
    {"wgmma_planes", {"second -= __uint_as_float(pair & 0xffff0000u);", ""}},
    {"wgmma_planes",
     {"return sum == sum ? sum : exact_product<kTraits>(args, batch, m, n);", "return sum;"}},
};

TEST_CASE("lines are copied in pieces") {
  for (const char* layout : {"tnt", "ntt", "nnt", "ttt"}) {
    for (const Shape& shape : {Shape{21, 23, kCopyPiece + 11}, Shape{2 * kCopyPiece + 3, 37, 9}}) {
      for (const DataType type : {DataType::bf16, DataType::e4m3}) {
        if (type == DataType::e4m3 && layout != std::string_view("tnt")) continue;
        const Problem problem = make_problem(shape, type, *parse_layout(layout));
        const auto traits = codegen::traits_for(problem);
        check_product(type == DataType::bf16 ? hopper("wgmma_misaligned", kWays[1], traits)
                                             : of_8_bit("wgmma_misaligned", kWays[1], traits, type),
                      problem, Fill::random, 0.5F, kSm90a);
      }
    }
  }
  const Problem problem =
      make_problem({21, 23, kCopyPiece + 11}, DataType::bf16, *parse_layout("tnt"));
  CHECK(is_found({"(kCopyLanes * kCopyChunks) + lane", "(kCopyLanes * kCopyChunks + 8) + lane"},
                 hopper("wgmma_misaligned", kWays[1], codegen::traits_for(problem)), problem, 0));
}

// Of f32 results that are stored as boxes.
constexpr Mutant kBoxFaults[] = {
    {"kBoxes.swizzled() ? pair ^ along : pair + along", "pair + along"},
    {"half * 8 * kBoxes.line_bytes()", "half * 4 * kBoxes.line_bytes()"},
    {"if (sum != sum) is_nan = true;", ""},
    {"if (row >= writer.args.m || column >= writer.args.n) continue;", "continue;"},
};

TEST_CASE("planted faults in boxes of f32 are found") {
  for (const Mutant& mutant : kBoxFaults) {
    CAPTURE(mutant.what);
    const auto spec = of_planes(kPlaneWays[0], {true, false, 4, 4, 4}, MathMode::bf16x6);
    REQUIRE(stores_boxes(spec.tile, 4, 4));
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

TEST_CASE("the wrong swizzle of lines of 64 bytes is found") {
  const auto spec = hopper("wgmma_tma", kHalfLines, {false, true, 8, 8, 8});
  const Mutant mutant = {"128 ? 1ULL : 2ULL", "128 ? 1ULL : 1ULL"};
  CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
}

constexpr std::pair<std::string_view, Mutant> k8BitFaults[] = {
    {"wgmma_misaligned", {"(shift & 3) * 8", "(shift & 2) * 8"}},
    {"wgmma_misaligned", {"(k + CopiedA::kOfHalf - 1) / CopiedA::kOfHalf", "k / CopiedA::kOfHalf"}},
    {"wgmma_tma", {"sums.add(of_part);", "sums = of_part;"}},
    {"wgmma_tma", {"wgmma_wait<1>();\n      add(", "add("}},
    {"wgmma_split_k", {"sums.add(of_part);", "sums = of_part;"}},
};

TEST_CASE("planted faults of 8-bit operands are found") {
  for (const auto& [strategy, mutant] : k8BitFaults) {
    CAPTURE(strategy);
    CAPTURE(mutant.what);
    const bool split = strategy == "wgmma_split_k";
    const int width = strategy == "wgmma_misaligned" ? 1 : 16;
    const auto spec = of_8_bit(strategy, split ? kSlices[0] : kWays[1],
                               {true, false, width, width, 1}, DataType::e4m3);
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

TEST_CASE("planted faults in copies and planes are found") {
  for (const auto& [strategy, mutant] : kCopyFaults) {
    CAPTURE(strategy);
    CAPTURE(mutant.what);
    const auto spec = on_copies(strategy);
    const Arch arch = strategy == "mma_misaligned" ? kSimArch : kSm90a;
    CHECK(!verdict_of(load_mutant(spec, mutant, arch), spec).correct());
  }
}

TEST_CASE("planted faults are found") {
  for (const PlantedFault& fault : kFaults) {
    CAPTURE(fault.tile);
    CAPTURE(fault.mutant.what);
    const auto spec = hopper(fault.strategy, fault.tile, {true, false, 8, 8, 8});
    const Verdict verdict = verdict_of(load_mutant(spec, fault.mutant, kSm90a), spec);
    CHECK(!verdict.correct());
    CHECK_MESSAGE(verdict.detail.find(fault.detail) != std::string::npos, verdict.detail);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
