#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim_kernel.h"

// Epilogues where results are stored: straight from registers, through shared memory, and behind
// each reduction.

namespace gemmtune::tuner {
namespace {

constexpr Arch kHopper = {9, 0, false};
constexpr KernelTraits kWide32 = {true, true, 4, 4, 4};
constexpr KernelTraits kWide16 = {true, false, 8, 8, 8};

// A kernel for each way in which results are stored.
struct Way {
  const char* strategy;
  const char* tile;
  KernelTraits traits;
  DataType type = DataType::f32;
};

const std::vector<Way>& ways() {
  static const std::string mma =
      "tile_m=32 tile_n=32 tile_k=32 warp_m=16 warp_n=32 stages=2 copy=1 order=1 fragments=1 ";
  static const std::string simt =
      "tile_m=32 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 lanes=1 "
      "order=1 copy=1 fragments=2 ";
  static const std::string stream_k = mma + "sharing_blocks=3 raster=1";
  static const std::string split_mma = mma + "groups=2 slices=2 raster=1";
  static const std::string cluster_mma = mma + "groups=1 slices=2 reduction=2 raster=1";
  static const std::string multistage_mma = mma + "raster=1";
  static const std::string multistage = simt + "raster=1";
  static const std::string split = simt + "slices=3 raster=1";
  static const std::string cluster = simt + "slices=2 reduction=2 raster=1";
  static const std::string atomic = simt + "slices=3 reduction=1 raster=1";
  static const std::string sliced = simt + "groups=2 slices=1 raster=1";
  static const std::vector<Way> all = {
      {"naive", "tile_m=8 tile_n=32", {true, true, 1, 1, 1}},
      {"multistage", multistage.c_str(), kWide32},
      {"multistage", multistage.c_str(), {true, true, 4, 4, 1}},
      {"split_k", split.c_str(), kWide32},
      {"split_k", cluster.c_str(), kWide32},
      {"sliced_k", sliced.c_str(), kWide32},
      {"mma_multistage", multistage_mma.c_str(), kWide16, DataType::bf16},
      {"mma_multistage", multistage_mma.c_str(), {true, false, 8, 8, 1}, DataType::f16},
      {"mma_split_k", split_mma.c_str(), kWide16, DataType::f16},
      {"mma_split_k", cluster_mma.c_str(), kWide16, DataType::bf16},
      {"mma_stream_k", stream_k.c_str(), kWide16, DataType::f16},
      {"split_k", atomic.c_str(), kWide32},
  };
  return all;
}

const Way& atomic_way() {
  return ways().back();
}

codegen::KernelSpec spec_with(const Way& way, const Epilogue& epilogue) {
  codegen::KernelSpec spec =
      spec_of(way.strategy, way.tile, way.traits, way.type, DataType::f32, MathMode::ieee, kHopper);
  spec.traits.epilogue = epilogue;
  return spec;
}

TEST_CASE("every bias and activation, wherever results are stored") {
  constexpr Epilogue kEpilogues[] = {
      {kBiasPerColumn, kNoActivation}, {kBiasPerRow, kNoActivation}, {kNoBias, kRelu},
      {kBiasPerColumn, kGeluTanh},     {kBiasPerRow, kGeluErf},      {kBiasPerColumn, kSilu}};
  for (const Way& way : ways()) {
    for (const Epilogue& epilogue : kEpilogues) {
      if (&way == &atomic_way() && epilogue.activation != kNoActivation) continue;
      check_quick_cases(spec_with(way, epilogue), kHopper);
    }
  }
}

TEST_CASE("results in f32 of 16-bit operands") {
  for (const Way& way : ways()) {
    if (way.type == DataType::f32) continue;
    for (const Epilogue& epilogue : {Epilogue{}, Epilogue{kBiasPerColumn, kRelu}}) {
      codegen::KernelSpec spec = spec_with(way, epilogue);
      spec.result = DataType::f32;
      spec.traits.vector_c = std::min(spec.traits.vector_c, 4);
      check_quick_cases(spec, kHopper);
    }
  }
}

TEST_CASE("an activation after atomic additions is refused") {
  const codegen::Rule* broken = codegen::broken_rule(spec_with(atomic_way(), {kNoBias, kRelu}),
                                                     representative_device(kHopper));
  REQUIRE(broken != nullptr);
  CHECK(std::string(broken->name) == "no activation after atomic additions");
}

struct Fault {
  Mutant mutant;
  size_t way;  // index of ways()
  Epilogue epilogue;
};

TEST_CASE("planted faults are found") {
  constexpr Epilogue kBias = {kBiasPerColumn, kNoActivation};
  const Fault faults[] = {
      // Added by every slice.
      {{"args.alpha * sums.v[v]);",
        "args.alpha * sums.v[v] + static_cast<const float*>(args.bias)[n + v]);"},
       11,
       kBias},
      // Twice.
      {{"value += bias;", "value += 2 * bias;"}, 1, kBias},
      {{"value += bias;", "value += 2 * bias;"}, 6, kBias},
      // Of the wrong column or row.
      {{"load<AsConstant>(bias + n)", "load<AsConstant>(bias)"}, 6, kBias},
      {{"(bias + n + v)", "(bias + n)"}, 1, kBias},
      {{"(args.bias) + m)", "(args.bias) + m % 8)"}, 8, {kBiasPerRow, kNoActivation}},
      // An unaligned bias read as an aligned one.
      {{"% kBytes == 0;", "% kBytes >= 0;"}, 6, kBias},
      // The activation before the bias, and without it.
      {{"return activated<kEpilogue.activation>(value);", "return value;"}, 9, {kNoBias, kRelu}},
      {{"x < 0.0f ? 0.0f : x", "x > 0.0f ? x : 0.0f"}, 6, {kNoBias, kRelu}},
      {{"fmaf(0.044715f, x * x, 1.0f)", "fmaf(0.0447f, x * x, 1.01f)"}, 1, {kNoBias, kGeluTanh}},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.mutant.what);
    const auto spec = spec_with(ways().at(fault.way), fault.epilogue);
    CHECK_FALSE(verdict_of(load_mutant(spec, fault.mutant, kHopper), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
