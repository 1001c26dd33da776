// Tensor-core instructions against a plain product: kernels/tensor.cu.
#include "fixture.h"
#include "ptxsim/decode/half.h"

namespace gemmtune::ptxsim::testing {

namespace {

struct Numbers {
  uint16_t (*encode)(float);
  float (*decode)(uint16_t);
};
const Numbers kHalf = {[](float x) { return float_to_half(x); }, half_to_float};
const Numbers kBfloat = {[](float x) { return float_to_bfloat(x); }, bfloat_to_float};

std::vector<uint16_t> encode_all(const std::vector<float>& values, const Numbers& numbers) {
  std::vector<uint16_t> out;
  out.reserve(values.size());
  for (const float value : values) out.push_back(numbers.encode(value));
  return out;
}

// |got - product| within the bound that mma_math.h states, for random values.
void check_tile(const std::string& kernel, const Numbers& numbers, size_t n, bool accumulates) {
  CAPTURE(kernel);
  const Module module = load_module("tensor.ptx");
  GlobalMemory memory;
  const std::vector<uint16_t> a = encode_all(random_floats(16 * 16, 1), numbers);
  const std::vector<uint16_t> b = encode_all(random_floats(16 * n, 2), numbers);
  const std::vector<float> old = random_floats(16 * n, 3);
  const Buffer<uint16_t> in_a(memory, a, "a");
  const Buffer<uint16_t> in_b(memory, b, "b");
  Buffer<float> out(memory, 16 * n, "c");
  if (accumulates) out.set(old);
  LaunchConfig launch;
  launch.block[0] = 32;
  const RunResult result =
      run_ok(module, kernel, launch,
             {argument(in_a.address()), argument(in_b.address()), argument(out.address())}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<float> got = out.get();
  for (size_t r = 0; r < 16; ++r) {
    for (size_t c = 0; c < n; ++c) {
      double sum = 0;
      double size = 0;
      for (size_t k = 0; k < 16; ++k) {
        const double product =
            static_cast<double>(numbers.decode(a[r * 16 + k])) * numbers.decode(b[k * n + c]);
        sum += product;
        size += std::abs(product);
      }
      const size_t at = r * n + c;
      if (accumulates) sum = 2 * sum + old[at];
      CHECK(std::abs(got[at] - sum) <= 0x1p-22 * (size + std::abs(old[at])));
    }
  }
}

}  // namespace

TEST_CASE("ldmatrix and mma.sync m16n8k16") {
  check_tile("mma_f16", kHalf, 8, false);
  check_tile("mma_bf16", kBfloat, 8, false);
}

TEST_CASE("wmma m16n16k16") {
  check_tile("wmma_f16", kHalf, 16, true);
  check_tile("wmma_bf16", kBfloat, 16, true);
}

TEST_CASE("mma.sync m16n8k8 tf32") {
  const Module module = load_module("tensor.ptx");
  GlobalMemory memory;
  const std::vector<float> a = random_floats(16 * 8, 4);
  const std::vector<float> b = random_floats(8 * 8, 5);
  const Buffer<float> in_a(memory, a, "a");
  const Buffer<float> in_b(memory, b, "b");
  const Buffer<float> out(memory, 16 * 8, "c");
  LaunchConfig launch;
  launch.block[0] = 32;
  const RunResult result =
      run_ok(module, "mma_tf32", launch,
             {argument(in_a.address()), argument(in_b.address()), argument(out.address())}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<float> got = out.get();
  for (size_t r = 0; r < 16; ++r) {
    for (size_t c = 0; c < 8; ++c) {
      double sum = 0;
      for (size_t k = 0; k < 8; ++k) {
        sum += static_cast<double>(round_to_tf32(a[r * 8 + k])) * round_to_tf32(b[k * 8 + c]);
      }
      CHECK(got[r * 8 + c] == static_cast<float>(sum));
    }
  }
}

}  // namespace gemmtune::ptxsim::testing
