// A whole Hopper kernel against a plain product: kernels/hopper_gemm.cu.
#include <cmath>

#include "fixture.h"
#include "ptxsim/decode/half.h"
#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim::testing {

namespace {

constexpr uint32_t kM = 256, kN = 128, kK = 320;
constexpr uint32_t kTile = 128, kTileK = 64, kStages = 3;

std::vector<uint16_t> bfloats(size_t count, uint64_t seed) {
  std::vector<uint16_t> out;
  for (const float value : random_floats(count, seed)) out.push_back(float_to_bfloat(value));
  return out;
}

TensorMap map_of(uint64_t address, uint32_t rows) {
  TensorMap map;
  map.address = address;
  map.config.type = DataType::bf16;
  map.config.extent = {kK, rows};
  map.config.stride_bytes = {kK * 2};
  map.config.box = {kTileK, kTile};
  map.config.swizzle = TensorSwizzle::bytes_128;
  return map;
}

}  // namespace

TEST_CASE("a pipeline of TMA and wgmma gives the product, whenever its copies arrive") {
  const Module module = load_module("hopper_gemm.ptx");
  const std::vector<uint16_t> a = bfloats(size_t{kM} * kK, 1);
  const std::vector<uint16_t> b = bfloats(size_t{kN} * kK, 2);
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    for (const uint64_t seed : {0, 1, 2}) {
      GlobalMemory memory;
      const Buffer<uint16_t> in_a(memory, a, "a");
      const Buffer<uint16_t> in_b(memory, b, "b");
      const Buffer<float> out(memory, size_t{kM} * kN, "c");
      LaunchConfig launch;
      launch.grid[0] = kN / kTile;
      launch.grid[1] = kM / kTile;
      launch.block[0] = 384;
      launch.dynamic_smem_bytes = int64_t{kStages} * 2 * kTile * kTileK * 2;
      Options options;
      options.async = mode;
      options.seed = seed;
      const RunResult result = run_ok(module, "gemm", launch,
                                      {argument(encode(map_of(in_a.address(), kM))),
                                       argument(encode(map_of(in_b.address(), kN))),
                                       argument(out.address()), argument(kN), argument(kK)},
                                      memory, options);
      CHECK_MESSAGE(result.findings.empty(), describe(result));
      const std::vector<float> c = out.get();
      size_t wrong = 0;
      for (uint32_t row = 0; row < kM; ++row) {
        for (uint32_t column = 0; column < kN; ++column) {
          double sum = 0;
          for (uint32_t k = 0; k < kK; ++k) {
            sum += static_cast<double>(bfloat_to_float(a[row * kK + k])) *
                   bfloat_to_float(b[column * kK + k]);
          }
          wrong += std::abs(c[row * kN + column] - sum) > 1e-4 ? 1 : 0;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace gemmtune::ptxsim::testing
