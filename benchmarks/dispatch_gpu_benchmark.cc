// Host time of a dispatch up to the launch, on a GPU, beside cublasGemmEx's: the same small
// product, enqueued many times on one stream.
//
//   dispatch_gpu_benchmark DATABASE    tuned for 64x64x64 f32 (else it is cuBLASLt's default that
//   runs)
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "gemmtune/gemmtune.h"
#include "gpu/driver.h"
#include "gpu/memory.h"
#include "gpu/stream.h"

namespace gemmtune {
namespace {

constexpr int kSize = 64;
constexpr int kCalls = 200;  // between synchronizations: fewer than the driver queues
constexpr int kRounds = 200;

// The part of cuBLAS that is compared with, as its reference manual declares it.
struct Cublas {
  using Create = int (*)(void**);
  using SetStream = int (*)(void*, CUstream);
  using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                         const void*, int, int, const void*, void*, int, int, int, int);

  Cublas() {
    void* library = dlopen("libcublas.so.13", RTLD_NOW);
    if (library == nullptr) library = dlopen("libcublas.so.12", RTLD_NOW);
    if (library == nullptr) return;
    const auto create = reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"));
    set_stream = reinterpret_cast<SetStream>(dlsym(library, "cublasSetStream_v2"));
    gemm_ex = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
    if (create == nullptr || create(&handle) != 0) gemm_ex = nullptr;
  }

  void* handle = nullptr;
  SetStream set_stream = nullptr;
  GemmEx gemm_ex = nullptr;
};

// Median host time of one call of `enqueue` in microseconds.
template <class Enqueue>
double median_us(const gpu::Stream& stream, Enqueue enqueue) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) enqueue();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (!stream.synchronize()) return -1;
    times.push_back(took.count() / kCalls);
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

int fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

int run(const char* database) {
  auto driver = gpu::Driver::load();
  if (!driver) return fail(driver.error().message);
  const std::shared_ptr<gpu::Context> context = gpu::Context::retain(*driver, 0).value();
  const auto scope = context->enter();
  const gpu::Stream stream = gpu::Stream::create(context).value();
  const auto buffer = [&](size_t bytes) {
    return gpu::DeviceBuffer::allocate(context, bytes).value();
  };
  const gpu::DeviceBuffer a = buffer(4 * kSize * kSize);
  const gpu::DeviceBuffer b = buffer(4 * kSize * kSize);
  const gpu::DeviceBuffer c = buffer(4 * kSize * kSize);
  const gpu::DeviceBuffer workspace = buffer(size_t{32} << 20);

  gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
  options.database = database;
  gemmtune_handle handle = nullptr;
  if (gemmtune_create(&handle, &options) != GEMMTUNE_STATUS_SUCCESS)
    return fail(gemmtune_last_error(nullptr));
  gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
  problem.m = problem.n = problem.k = kSize;
  if (gemmtune_prewarm(handle, &problem, 1, nullptr) != GEMMTUNE_STATUS_SUCCESS)
    return fail(gemmtune_last_error(handle));
  std::vector<char> text(4096);
  gemmtune_explain(handle, &problem, GEMMTUNE_TEXT, text.data(), text.size(), nullptr);
  std::printf("%s", text.data());

  const float one = 1;
  const float zero = 0;
  const auto ours = [&] {
    gemmtune_gemm(handle, &problem, &one, a.data(), b.data(), &zero, c.data(), workspace.data(),
                  workspace.size_bytes(), stream.handle());
  };
  const Cublas cublas;
  const auto theirs = [&] {  // CUDA_R_32F is 0, CUBLAS_COMPUTE_32F is 68, the default algorithm -1
    cublas.gemm_ex(cublas.handle, 0, 0, kSize, kSize, kSize, &one, b.data(), 0, kSize, a.data(), 0,
                   kSize, &zero, c.data(), 0, kSize, 68, -1);
  };
  if (cublas.gemm_ex != nullptr) cublas.set_stream(cublas.handle, stream.handle());
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::printf("gemmtune_gemm %.3f us per call", median_us(stream, ours));
    if (cublas.gemm_ex != nullptr)
      std::printf(", cublasGemmEx %.3f us per call", median_us(stream, theirs));
    std::printf("\n");
  }
  gemmtune_destroy(handle);
  return 0;
}

}  // namespace
}  // namespace gemmtune

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dispatch_gpu_benchmark DATABASE\n");
    return 2;
  }
  return gemmtune::run(argv[1]);
}
