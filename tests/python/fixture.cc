// What the tests of the Python package open beside it: a fake GPU with results that were tuned for
// it, and a library that multiplies by (a fake) cuBLAS, as PyTorch's do.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cublas_preload/entries.h"
#include "fake_calls.h"
#include "fake_kernels.h"
#include "handle_calls.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;

constexpr int kSize = 24;

Problem with_type(DataType type) {
  return make_problem({kSize, kSize, kSize}, type);
}

std::vector<Problem> tuned_problems() {
  Problem with_bias = with_type(DataType::f32);
  with_bias.epilogue.bias = kBiasPerColumn;
  with_bias.epilogue.activation = kRelu;
  Problem wider = with_type(DataType::f16);
  wider.result = DataType::f32;
  Problem batched = with_type(DataType::f32);
  batched.batch = 3;
  pack(batched);
  const Problem transposed =
      make_problem({kSize, kSize, kSize}, DataType::f32,
                   {Order::row_major, Order::column_major, Order::row_major});
  return {with_type(DataType::f32), with_bias, wider, batched, transposed, with_type(DataType::f16),
          with_type(DataType::bf16)};
}

// Outside of test cases, what doctest requires ends the process.
void require_outside_of_tests() {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& data) {
    if (!data.m_failed) return;
    std::fprintf(stderr, "%s:%d: %s\n", data.m_file, data.m_line, data.m_expr);
    std::abort();
  });
}

Handle& handle() {
  static Handle made = nullptr;
  return made;
}

}  // namespace
}  // namespace gemmtune::cublas_preload

extern "C" {

// Makes the database FOLDER/tuned.db and the cache FOLDER/cache, with products of 24 x 24 x 24; a
// fake GPU that computes them, with its context current; and a handle of cuBLAS.
void gemmtune_fixture_make(const char* folder) {
  using namespace gemmtune;                  // NOLINT(google-build-using-namespace)
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  require_outside_of_tests();
  fake_cuda::FakeCuda& fake = *gemmtune_fake_cuda();
  fake.reset();
  std::vector<dispatch_test::Tuned> results;
  std::vector<codegen::KernelSpec> kernels;
  for (const Problem& problem : tuned_problems()) {
    results.push_back(won_by(problem));
    kernels.push_back(*results.back().kernel);
    define_any_kernel(fake, kernels.back());
  }
  dispatch_test::write_database(std::string(folder) + "/tuned.db", results);
  dispatch_test::write_cache(std::string(folder) + "/cache", kernels);
  CUcontext context = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxPushCurrent(context);
  CUstream stream = nullptr;
  cuStreamCreate(&stream, 0);
  cublasCreate_v2(&handle());
  cublasSetStream_v2(handle(), stream);
}

// C = A B by cuBLAS, all column-major and m x 24 x 24. The fake cuBLAS computes nothing.
int gemmtune_fixture_sgemm(int m, const float* a, const float* b, float* c) {
  using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
  const float one = 1;
  const float zero = 0;
  return static_cast<int>(cublasSgemm_v2(handle(), lt::Transpose::no, lt::Transpose::no, m, kSize,
                                         kSize, &one, a, m, b, kSize, &zero, c, m));
}

// Calls that reached the fake cuBLAS.
uint64_t gemmtune_fixture_cublas_calls() {
  return gemmtune_fake_cublas()->products;
}

// A new stream of the fake GPU.
void* gemmtune_fixture_stream() {
  CUstream stream = nullptr;
  cuStreamCreate(&stream, 0);
  return stream;
}

uint64_t gemmtune_fixture_launches() {
  return gemmtune_fake_cuda()->launches().size();
}

}  // extern "C"
