// A program that has cuBLAS multiply on a (fake) GPU, for the tests of `gemm-tune run`:
//   run_program MODE...   one after the other
// It is linked to fakes of cuBLAS, cuBLASLt and the driver.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cublas_preload/entries.h"
#include "descriptor_calls.h"
#include "fake_calls.h"
#include "fake_cuda.h"
#include "handle_calls.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;

const float kOne = 1;
const float kZero = 0;
alignas(256) float matrix[1024];

struct Program {
  CUstream stream = nullptr;
  Handle handle = nullptr;

  Program() {
    CUcontext context = nullptr;
    gemmtune_fake_cuda()->reset();
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxPushCurrent(context);
    cuStreamCreate(&stream, 0);
    cublasCreate_v2(&handle);
    cublasSetStream_v2(handle, stream);
  }

  void multiply(int m) const { multiply(cublasSgemm_v2, m); }

  void multiply(decltype(cublasSgemm_v2)* sgemm, int m) const {
    sgemm(handle, lt::Transpose::no, lt::Transpose::no, m, 24, 24, &kOne, matrix, m, matrix, 24,
          &kZero, matrix, m);
  }

  // By cublasLtMatmul, with an algorithm: the heuristic's first, or another.
  void multiply_lt(bool first) const {
    lt::Operation operation = nullptr;
    lt::Layout layouts = nullptr;
    lt::Algorithm algorithm = {};
    cublasLtMatmulDescCreate(&operation, lt::ComputeType::f32, lt::ElementType::f32);
    cublasLtMatrixLayoutCreate(&layouts, lt::ElementType::f32, 24, 24, 24);
    algorithm.state[0] = fake_cublas::kFirstChoice + (first ? 0 : 1);
    cublasLtMatmul(lt_handle(), operation, &kOne, matrix, layouts, matrix, layouts, &kZero, matrix,
                   layouts, matrix, layouts, &algorithm, nullptr, 0, stream);
    cublasLtMatrixLayoutDestroy(layouts);
    cublasLtMatmulDescDestroy(operation);
  }

  lt::Handle lt_handle() const { return reinterpret_cast<lt::Handle>(handle); }

  bool run(const std::string& mode) const {
    if (mode.starts_with("tuned")) {
      for (int i = std::atoi(mode.c_str() + 5); i > 0; --i) multiply(24);
    } else if (mode == "untuned") {
      multiply(25);
    } else if (mode == "named") {  // looked up by its name
      void* const library = dlopen("libcublas.so.13", RTLD_LAZY | RTLD_NOLOAD);
      multiply(reinterpret_cast<decltype(&cublasSgemm_v2)>(dlsym(library, "cublasSgemm_v2")), 24);
    } else if (mode == "f64") {
      cublasDgemm_v2(handle, lt::Transpose::no, lt::Transpose::no, 8, 8, 8, nullptr, nullptr, 8,
                     nullptr, 8, nullptr, nullptr, 8);
    } else if (mode == "first" || mode == "other") {
      multiply_lt(mode == "first");
    } else if (mode == "graph") {
      CUgraph graph = nullptr;
      cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
      multiply(24);
      cuStreamEndCapture(stream, &graph);
    } else if (mode == "fork") {
      if (const pid_t child = fork(); child == 0) {
        multiply(24);
        _exit(0);
      } else {
        waitpid(child, nullptr, 0);
      }
    } else if (mode == "break") {
      gemmtune_fake_cuda()->fail("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    } else if (mode == "say") {
      std::printf("%zu launches\n", gemmtune_fake_cuda()->launches().size());
    } else if (mode == "wait") {
      std::fprintf(stderr, "waiting\n");
      pause();
    } else if (mode == "kill") {
      raise(SIGKILL);
    } else if (mode.starts_with("exit")) {
      std::exit(std::atoi(mode.c_str() + 4));
    } else {
      return false;
    }
    return true;
  }
};

}  // namespace
}  // namespace gemmtune::cublas_preload

int main(int argc, char** argv) {
  const gemmtune::cublas_preload::Program program;
  for (int i = 1; i < argc; ++i) {
    if (!program.run(argv[i])) return 98;
  }
  return 0;
}
