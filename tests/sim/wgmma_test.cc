#include <array>
#include <string>

#include "parts/shared/wgmma_tiles.h"
#include "sim_kernel.h"

// What is particular to wgmma_tma and wgmma_split_k: persistent grids of which a block computes
// several tiles, consumers that take turns, clusters that share tiles, exchanged operands, the ways
// that results reach C, and the faults that their verification has to find.

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, true};

codegen::KernelSpec hopper(std::string_view strategy, const std::string& tile,
                           const KernelTraits& traits, DataType type = DataType::bf16,
                           DataType sums = DataType::f32) {
  return spec_of(strategy, tile, traits, type, sums, MathMode::ieee, kHopper);
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
    "tile_m=32 tile_n=128 tile_k=64 stages=2 consumers=2 exchange=1 cluster_m=1 cluster_n=2"};

// Of wgmma_split_k: sums that meet in the workspace and in a cluster.
constexpr std::array kSlices = {
    "tile_m=64 tile_n=64 tile_k=64 stages=2 consumers=1 slices=2 reduction=2",
    "tile_m=128 tile_n=24 tile_k=64 stages=2 consumers=2 slices=3",
    "tile_m=8 tile_n=128 tile_k=64 stages=3 consumers=2 exchange=1 slices=4 reduction=2",
    "tile_m=32 tile_n=64 tile_k=128 stages=2 consumers=1 exchange=1 slices=5"};

TEST_CASE("every layout and alignment of C") {
  size_t way = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const int width : {1, 2, 8}) {
        const KernelTraits traits{a, b, 8, 8, width};
        const DataType type = width == 2 ? DataType::f16 : DataType::bf16;
        // Eight and four ways over twelve kernels: each meets several.
        check_quick_cases(hopper("wgmma_tma", kWays.at(way % kWays.size()), traits, type), kHopper);
        check_quick_cases(hopper("wgmma_split_k", kSlices.at(way % kSlices.size()), traits, type),
                          kHopper);
        ++way;
      }
    }
  }
}

TEST_CASE("each way in the other type, with f16 sums and results of f32") {
  for (const char* tile : kWays) {
    check_quick_cases(hopper("wgmma_tma", tile, {true, false, 8, 8, 8}, DataType::f16), kHopper);
  }
  for (const char* tile : {kWays[1], kWays[6]}) {
    check_quick_cases(
        hopper("wgmma_tma", tile, {false, true, 8, 8, 8}, DataType::f16, DataType::f16), kHopper);
    auto spec = hopper("wgmma_tma", tile, {true, true, 8, 8, 4});
    spec.result = DataType::f32;
    check_quick_cases(spec, kHopper);
  }
  for (const char* tile : kSlices) {
    check_quick_cases(
        hopper("wgmma_split_k", tile, {false, true, 8, 8, 8}, DataType::f16, DataType::f16),
        kHopper);
  }
}

TEST_CASE("biases of columns and rows, and activations") {
  for (const Epilogue epilogue :
       {Epilogue{kBiasPerColumn, kGeluTanh}, Epilogue{kBiasPerRow, kSilu}}) {
    for (const char* tile : {kWays[1], kWays[3], kWays[6]}) {
      for (const int width : {1, 8}) {
        auto spec = hopper("wgmma_tma", tile, {true, false, 8, 8, width});
        spec.traits.epilogue = epilogue;
        check_quick_cases(spec, kHopper);
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
    for_arch.arch = kHopper;
    const auto compiled = compiler().compile({codegen::emit(for_arch), kHopper, {}});
    REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
    CHECK(compiled->entries.front().usage.registers == registers.at_start);
  }
}

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
    {"wgmma_tma", kWays[0], {"      wgmma_fence();\n", ""}, ""},
    {"wgmma_tma", kWays[0], {"tensor_store_fence();\n", "\n"}, ""},
    {"wgmma_tma", kWays[1], {"wait_for_stored_boxes<WgmmaBoxes::kBuffers - 1>();", ""}, ""},
    {"wgmma_tma", kWays[2], {"      turns.await();\n", ""}, ""},
    {"wgmma_tma", kWays[5], {"pipeline.release(last, place);\n      last", "last"}, ""},
    {"wgmma_tma", kWays[5], {"kReaders * Place::kSharers", "kReaders"}, ""},
    {"wgmma_tma",
     kWays[0],
     {"mbarrier_arrive_expect(barrier, kStageBytes);",
      "mbarrier_arrive_expect(barrier, kStageBytes - 1024);"},
     ""},
    {"wgmma_tma",
     kWays[0],
     {"constexpr unsigned long long kGroupBytes = 1024;",
      "constexpr unsigned long long kGroupBytes = 512;"},
     ""},
    {"wgmma_tma",
     kWays[6],
     {"return bytes / kTmaLineBytes * kBoxBytes + bytes % kTmaLineBytes;",
      "return bytes % kTmaLineBytes;"},
     ""},
    {"wgmma_split_k",
     kSlices[0],
     {"asm volatile(\"bar.sync 1, %0;\"", "if (false) asm volatile(\"bar.sync 1, %0;\""},
     "shared_race"},
    {"wgmma_split_k", kSlices[1], {"sums.clear();", ""}, ""},
};

TEST_CASE("planted faults are found") {
  for (const PlantedFault& fault : kFaults) {
    CAPTURE(fault.tile);
    CAPTURE(fault.mutant.what);
    const auto spec = hopper(fault.strategy, fault.tile, {true, false, 8, 8, 8});
    const Verdict verdict = verdict_of(load_mutant(spec, fault.mutant, kHopper), spec);
    CHECK(!verdict.correct());
    CHECK_MESSAGE(verdict.detail.find(fault.detail) != std::string::npos, verdict.detail);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
