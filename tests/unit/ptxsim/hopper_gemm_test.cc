// A whole Hopper kernel against a plain product: kernels/hopper_gemm.cu.
#include <cmath>

#include "fixture.h"
#include "ptxsim/decode/half.h"
#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim::testing {

namespace {

constexpr uint32_t kM = 256, kN = 128, kK = 576;
constexpr uint32_t kTile = 128, kTileK = 64, kStages = 3;

std::vector<uint16_t> bfloats(size_t count, uint64_t seed) {
  std::vector<uint16_t> out;
  for (const float value : random_floats(count, seed)) out.push_back(float_to_bfloat(value));
  return out;
}

// The product in binary64.
std::vector<double> product(const std::vector<uint16_t>& a, const std::vector<uint16_t>& b) {
  std::vector<float> left;
  std::vector<float> right;
  for (const uint16_t bits : a) left.push_back(bfloat_to_float(bits));
  for (const uint16_t bits : b) right.push_back(bfloat_to_float(bits));
  std::vector<double> out;
  for (uint32_t row = 0; row < kM; ++row) {
    for (uint32_t column = 0; column < kN; ++column) {
      const float* x = &left[size_t{row} * kK];
      const float* y = &right[size_t{column} * kK];
      double sum = 0;
      for (uint32_t k = 0; k < kK; ++k) sum += static_cast<double>(x[k]) * y[k];
      out.push_back(sum);
    }
  }
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

struct Product {
  std::vector<uint16_t> a = bfloats(size_t{kM} * kK, 1);
  std::vector<uint16_t> b = bfloats(size_t{kN} * kK, 2);
  std::vector<double> expected = product(a, b);
};

// What the kernel computes of it, and how many elements are wrong.
RunResult multiply(const Module& module, const Product& test, const Options& options,
                   size_t& wrong) {
  GlobalMemory memory;
  const Buffer<uint16_t> a(memory, test.a, "a");
  const Buffer<uint16_t> b(memory, test.b, "b");
  const Buffer<float> out(memory, size_t{kM} * kN, "c");
  LaunchConfig launch;
  launch.grid[0] = kN / kTile;
  launch.grid[1] = kM / kTile;
  launch.block[0] = 384;
  launch.dynamic_smem_bytes = int64_t{kStages} * 2 * kTile * kTileK * 2;
  RunResult result =
      run_ok(module, "gemm", launch,
             {argument(encode(map_of(a.address(), kM))), argument(encode(map_of(b.address(), kN))),
              argument(out.address()), argument(kN), argument(kK)},
             memory, options);
  const std::vector<float> c = out.get();
  wrong = 0;
  for (size_t i = 0; i < c.size(); ++i) wrong += std::abs(c[i] - test.expected[i]) > 2e-4 ? 1 : 0;
  return result;
}

// What orders the kernel's accesses, and what is left when it is forgotten.
struct Forgotten {
  const char* instruction;
  const char* instead;
};
constexpr Forgotten kForgotten[] = {
    {"mbarrier.try_wait.", "setp.eq.u32 done, 0, 0;"},
    {"mbarrier.arrive.", ""},
    {"mbarrier.init.", ""},
    {"wgmma.fence.", ""},
    {"wgmma.wait_group.", ""},
    {"wgmma.commit_group.", ""},
    {"bar.sync", ""},
};

}  // namespace

TEST_CASE("a pipeline of TMA and wgmma gives the product, whenever its copies arrive") {
  const Module module = load_module("hopper_gemm.ptx");
  const Product test;
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    for (const uint64_t seed : {0, 1, 2}) {
      Options options;
      options.async = mode;
      options.seed = seed;
      size_t wrong = 0;
      const RunResult result = multiply(module, test, options, wrong);
      CHECK_MESSAGE(result.findings.empty(), describe(result));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("each forgotten wait, arrival and fence of the pipeline is found") {
  const std::string text =
      read_text(std::string(GEMMTUNE_SOURCE_DIR) + "/tests/unit/ptxsim/kernels/hopper_gemm.ptx");
  const Product test;
  int tried = 0;
  std::string needless;
  for (const Forgotten& forgotten : kForgotten) {
    for (size_t at = text.find(forgotten.instruction); at != std::string::npos;
         at = text.find(forgotten.instruction, at + 1)) {
      const size_t end = text.find(';', at) + 1;
      const Module module = parse_text(text.substr(0, at) + forgotten.instead + text.substr(end));
      bool found = true;
      for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
        Options options;
        options.async = mode;
        options.max_warp_instructions = 1 << 20;
        size_t wrong = 0;
        found = found && !multiply(module, test, options, wrong).findings.empty();
      }
      ++tried;
      if (!found) needless += text.substr(at, end - at) + "\n";
    }
  }
  CHECK(tried > 20);
  // The last step's arrival, for which nobody waits, and fences of the loop: no register is written
  // between its steps.
  CHECK(needless ==
        "mbarrier.arrive.shared::cta.b64 _, [%r130];\n"
        "wgmma.fence.sync.aligned;\nwgmma.fence.sync.aligned;\n");
}

}  // namespace gemmtune::ptxsim::testing
