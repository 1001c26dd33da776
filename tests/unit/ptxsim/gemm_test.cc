#include "fixture.h"

namespace gemmtune::ptxsim::testing {

namespace {

struct GemmArguments {
  uint64_t a, b, c;
  int32_t m, n, k;
  int32_t padding = 0;
  int64_t lda, ldb, ldc;
  float alpha, beta;
};

struct Case {
  int32_t m, n, k;
  int32_t pad;
  float alpha, beta;
};

void check_gemm(const Program& program, const Case& size, const Options& options) {
  CAPTURE(size.m);
  CAPTURE(size.n);
  CAPTURE(size.k);
  const int64_t lda = size.k + size.pad;
  const int64_t ldb = size.n + size.pad;
  const int64_t ldc = size.n + size.pad;
  const auto random_integers = [](size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> out(count);
    for (float& value : out) value = static_cast<float>(static_cast<int>(random() % 17) - 8);
    return out;
  };
  const std::vector<float> a = random_integers(static_cast<size_t>(size.m * lda), 1);
  const std::vector<float> b = random_integers(static_cast<size_t>(size.k * ldb), 2);
  const std::vector<float> c = random_integers(static_cast<size_t>(size.m * ldc), 3);
  GlobalMemory memory;
  const Buffer<float> buffer_a(memory, a, "A");
  const Buffer<float> buffer_b(memory, b, "B");
  const Buffer<float> buffer_c(memory, c, "C");
  const GemmArguments arguments{buffer_a.address(),
                                buffer_b.address(),
                                buffer_c.address(),
                                size.m,
                                size.n,
                                size.k,
                                0,
                                lda,
                                ldb,
                                ldc,
                                size.alpha,
                                size.beta};
  LaunchConfig launch;
  launch.grid[0] = static_cast<uint32_t>((size.n + 63) / 64);
  launch.grid[1] = static_cast<uint32_t>((size.m + 63) / 64);
  launch.block[0] = 128;
  launch.dynamic_smem_bytes = 8 * 68 * 4;
  const Expected<RunResult> result = run(program, launch, {argument(arguments)}, memory, options);
  REQUIRE_MESSAGE(result.has_value(), (result ? "" : result.error().message));
  CHECK_MESSAGE(result->findings.empty(), describe(*result));
  const std::vector<float> got = buffer_c.get();
  size_t wrong = 0;
  for (int64_t r = 0; r < size.m; ++r) {
    for (int64_t col = 0; col < ldc; ++col) {
      float want = c[static_cast<size_t>(r * ldc + col)];
      if (col < size.n) {
        float sum = 0;
        for (int64_t k = 0; k < size.k; ++k) {
          sum += a[static_cast<size_t>(r * lda + k)] * b[static_cast<size_t>(k * ldb + col)];
        }
        want = size.alpha * sum + (size.beta != 0 ? size.beta * want : 0);
      }
      wrong += got[static_cast<size_t>(r * ldc + col)] != want ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a SIMT GEMM is exact on small integers, whatever its size, mode and order") {
  const Module module = load_module("sgemm.ptx");
  const Expected<Program> program = decode(module, "sgemm");
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().message));
  for (const Case size :
       {Case{64, 64, 8, 0, 1, 0}, Case{1, 1, 1, 0, 1, 0}, Case{65, 63, 17, 3, 2, 1},
        Case{128, 128, 64, 0, 1, 0}, Case{7, 130, 33, 4, -1, 0.5F}}) {
    for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
      for (const uint64_t seed : {0, 7}) {
        Options options;
        options.async = mode;
        options.seed = seed;
        check_gemm(*program, size, options);
      }
    }
  }
}

}  // namespace gemmtune::ptxsim::testing
