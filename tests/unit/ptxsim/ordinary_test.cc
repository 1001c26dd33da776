// Kernels that are not GEMM run right: compiled from kernels/ordinary.cu.
#include <cmath>
#include <numeric>

#include "fixture.h"

namespace gemmtune::ptxsim::testing {

TEST_CASE("a reduction with shuffles sums every element") {
  const Module module = load_module("ordinary.ptx");
  for (const int n : {1, 31, 1000, 4097}) {
    GlobalMemory memory;
    std::vector<float> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 1.0F);
    const Buffer<float> in(memory, values, "in");
    const Buffer<float> out(memory, 3, "out");
    LaunchConfig launch;
    launch.grid[0] = 3;
    launch.block[0] = 128;
    const RunResult result =
        run_ok(module, "reduce_sum", launch,
               {argument(in.address()), argument(out.address()), argument(n)}, memory);
    CHECK_MESSAGE(result.findings.empty(), describe(result));
    const std::vector<float> sums = out.get();
    CHECK(sums[0] + sums[1] + sums[2] == static_cast<float>(n) * static_cast<float>(n + 1) / 2);
  }
}

TEST_CASE("a tiled transpose with ragged edges") {
  const Module module = load_module("ordinary.ptx");
  const size_t rows = 45;
  const size_t columns = 70;
  GlobalMemory memory;
  const std::vector<float> values = random_floats(rows * columns, 5);
  const Buffer<float> in(memory, values, "in");
  const Buffer<float> out(memory, values.size(), "out");
  LaunchConfig launch;
  launch.grid[0] = 3;
  launch.grid[1] = 2;
  launch.block[0] = 32;
  launch.block[1] = 8;
  const RunResult result =
      run_ok(module, "transpose", launch,
             {argument(in.address()), argument(out.address()), argument(static_cast<int>(rows)),
              argument(static_cast<int>(columns))},
             memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<float> got = out.get();
  size_t wrong = 0;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      wrong += got[c * rows + r] != values[r * columns + c];
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a histogram with shared and global atomics, blocks on several host threads") {
  const Module module = load_module("ordinary.ptx");
  const int n = 5000;
  std::mt19937 random(3);
  std::vector<uint32_t> data(n);
  std::vector<uint32_t> want(64, 0);
  for (uint32_t& value : data) {
    value = random();
    ++want[value % 64];
  }
  for (const uint64_t seed : {0, 1, 2}) {
    GlobalMemory memory;
    const Buffer<uint32_t> in(memory, data, "data");
    const Buffer<uint32_t> bins(memory, 64, "bins", true);
    LaunchConfig launch;
    launch.grid[0] = 7;
    launch.block[0] = 96;
    Options options;
    options.threads = 4;
    options.seed = seed;
    const RunResult result =
        run_ok(module, "histogram", launch,
               {argument(in.address()), argument(bins.address()), argument(n)}, memory, options);
    CHECK_MESSAGE(result.findings.empty(), describe(result));
    CHECK(bins.get() == want);
  }
}

TEST_CASE("lanes that leave a loop at different times meet again") {
  const Module module = load_module("ordinary.ptx");
  const int n = 100;
  std::vector<uint64_t> values(n);
  std::iota(values.begin(), values.end(), uint64_t{1});
  GlobalMemory memory;
  const Buffer<uint64_t> in(memory, values, "in");
  const Buffer<int> out(memory, n, "steps");
  LaunchConfig launch;
  launch.grid[0] = 2;
  launch.block[0] = 64;
  const RunResult result =
      run_ok(module, "collatz", launch,
             {argument(in.address()), argument(out.address()), argument(n)}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<int> got = out.get();
  for (int i = 0; i < n; ++i) {
    int steps = 0;
    for (uint64_t v = values[static_cast<size_t>(i)]; v != 1; v = v % 2 == 0 ? v / 2 : 3 * v + 1) {
      ++steps;
    }
    CHECK(got[static_cast<size_t>(i)] == steps);
  }
}

TEST_CASE("calls, constant memory, local arrays, a switch and libdevice functions") {
  const Module module = load_module("ordinary.ptx");
  const int n = 50;
  GlobalMemory memory;
  const std::vector<float> values = random_floats(n, 9);
  const Buffer<float> in(memory, values, "in");
  const Buffer<float> out(memory, n, "out");
  LaunchConfig launch;
  launch.block[0] = 64;
  const RunResult result =
      run_ok(module, "mixed", launch,
             {argument(in.address()), argument(out.address()), argument(n)}, memory);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<float> got = out.get();
  for (int i = 0; i < n; ++i) {
    const double x = values[static_cast<size_t>(i)];
    double want = 0;
    switch (i % 6) {
      case 0:
        want = ((3.0 * x + 0.5) * x - 2.0) * x + 1.0;
        break;
      case 1:
        want = std::sqrt(std::fabs(x));
        break;
      case 2:
        want = x * (i % 8);
        break;
      case 3:
        want = x / 3.0;
        break;
      case 4:
        want = std::sin(x);
        break;
      default:
        want = std::exp(x);
        break;
    }
    want += x * ((i * 5) % 8);
    CHECK(got[static_cast<size_t>(i)] == doctest::Approx(want).epsilon(1e-5));
  }
}

}  // namespace gemmtune::ptxsim::testing
