// A program that asks cuBLAS for products, for the tests of `gemm-tune capture`:
//   capture_program MODE...   one after the other
// It is linked to the fake cuBLAS and cuBLASLt.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cublas_preload/entries.h"
#include "descriptor_calls.h"
#include "fake_calls.h"
#include "handle_calls.h"

namespace {

// How long it takes to make a file: whoever meets a slow one waits there until it is quick.
enum class FileSystem { quick, slow, busy };

std::atomic<FileSystem>& file_system() {
  static std::atomic<FileSystem> state = FileSystem::quick;
  return state;
}

}  // namespace

// In front of libc's.
extern "C" int posix_fallocate(int file, off_t offset, off_t bytes) {
  FileSystem slow = FileSystem::slow;
  if (file_system().compare_exchange_strong(slow, FileSystem::busy)) {
    while (file_system() == FileSystem::busy) usleep(100);
  }
  return ftruncate(file, offset + bytes);
}

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Handle;
using vendor::blas::MathMode;

const float kOne = 1;
const float kZero = 0;
alignas(256) std::byte matrix[256];

Handle handle() {
  return reinterpret_cast<Handle>(0x1000);
}

// C (m x n, row-major) = A (m x k) * B^T (n x k): weights of a linear layer.
void linear(int m, int n, int k, const float* beta = &kZero) {
  cublasSgemm_v2(handle(), lt::Transpose::yes, lt::Transpose::no, n, m, k, &kOne,
                 reinterpret_cast<float*>(matrix), k, reinterpret_cast<float*>(matrix), k, beta,
                 reinterpret_cast<float*>(matrix), n);
}

template <class Object, class Name, class Value>
void set(lt::Status (*function)(Object, Name, const void*, size_t), Object object, Name name,
         Value value) {
  function(object, name, &value, sizeof(value));
}

// bf16 8 x 128 x 64 with bias and ReLU, through cuBLASLt.
void lt_linear() {
  const auto bf16 = lt::ElementType::bf16;
  lt::Operation operation = nullptr;
  cublasLtMatmulDescCreate(&operation, lt::ComputeType::f32, lt::ElementType::f32);
  set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::transpose_a,
      lt::Transpose::yes);
  set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::epilogue,
      lt::Epilogue::relu_bias);
  uint64_t layout_memory[3][8] = {};
  lt::Layout layouts[3];
  const uint64_t sizes[3][2] = {{64, 128}, {64, 8}, {128, 8}};
  for (int i = 0; i < 3; ++i) {
    layouts[i] = reinterpret_cast<lt::Layout>(layout_memory[i]);
    cublasLtMatrixLayoutInit_internal(layouts[i], sizeof(layout_memory[i]), bf16, sizes[i][0],
                                      sizes[i][1], static_cast<int64_t>(sizes[i][0]));
  }
  cublasLtMatmul(nullptr, operation, &kOne, matrix, layouts[0], matrix, layouts[1], &kZero, matrix,
                 layouts[2], matrix, layouts[2], nullptr, nullptr, 1 << 20, nullptr);
  cublasLtMatmulDescDestroy(operation);
}

// Attention scores: 12 heads whose queries and keys lie beside each other.
void batched() {
  cublasSgemmStridedBatched(handle(), lt::Transpose::yes, lt::Transpose::no, 96, 96, 64, &kOne,
                            reinterpret_cast<float*>(matrix), 768, 64,
                            reinterpret_cast<float*>(matrix), 768, 64, &kZero,
                            reinterpret_cast<float*>(matrix), 96, 96 * 96, 12);
}

// From here on there is a driver; `name` is one of its functions.
void* driver_function(const char* name) {
  static void* const driver = dlopen(GEMMTUNE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

// Calls under capture, between calls that are not.
void in_graph() {
  const auto capture = reinterpret_cast<void (*)(bool)>(driver_function("gemmtune_fake_capture"));
  linear(20, 20, 20);
  capture(true);
  for (int i = 0; i < 3; ++i) linear(20, 20, 20);
  capture(false);
}

void in_child(void (*work)(), bool forget) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    if (forget) _exit(0);
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
}

// A child that is forked while another thread makes the first product, on a slow file system.
void in_child_meanwhile() {
  file_system() = FileSystem::slow;
  std::thread first([] { linear(42, 42, 42); });
  while (file_system() != FileSystem::busy) usleep(100);
  const pid_t child = fork();
  file_system() = FileSystem::quick;
  if (child == 0) {
    alarm(20);
    linear(43, 43, 43);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  first.join();
  if (WIFSIGNALED(status)) std::exit(97);
}

void in_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) linear(16, 32, 48);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool run(const std::string& mode) {
  if (mode == "linear") {
    for (int i = 0; i < 3; ++i) linear(32, 256, 128);
    linear(32, 256, 128, &kOne);
  } else if (mode == "sweep") {
    for (int m = 1; m <= 5; ++m) linear(m, 512, 256);
  } else if (mode == "lt") {
    for (int i = 0; i < 7; ++i) lt_linear();
  } else if (mode == "batched") {
    batched();
  } else if (mode == "f64") {
    cublasDgemm_v2(handle(), lt::Transpose::no, lt::Transpose::no, 8, 8, 8, nullptr, nullptr, 8,
                   nullptr, 8, nullptr, nullptr, 8);
  } else if (mode == "tf32") {
    cublasSetMathMode(handle(), MathMode::tf32);
    cublasSetStream_v2(handle(), nullptr);
    cublasSetWorkspace_v2(handle(), matrix, 4096);
    linear(64, 64, 64);
  } else if (mode == "nested") {
    gemmtune_fake_cublas()->nested = gemmtune_fake_nested;
    cublasGemmEx(handle(), lt::Transpose::no, lt::Transpose::no, 24, 16, 8, &kOne, matrix,
                 lt::ElementType::f16, 24, matrix, lt::ElementType::f16, 8, &kZero, matrix,
                 lt::ElementType::f16, 24, lt::ComputeType::f32,
                 vendor::blas::Algorithm::by_default);
  } else if (mode == "gpu") {
    driver_function("cuEventCreate");
  } else if (mode == "graph") {
    in_graph();
  } else if (mode == "fail") {
    gemmtune_fake_cublas()->status = 1;
    linear(8, 8, 8);
  } else if (mode == "many") {
    for (int m = 1; m <= 5000; ++m) linear(m, 16, 16);
  } else if (mode == "threads") {
    in_threads();
  } else if (mode == "fork") {
    in_child([] { linear(40, 40, 40); }, false);
  } else if (mode == "idle_child") {
    in_child([] {}, false);
  } else if (mode == "fork_meanwhile") {
    in_child_meanwhile();
  } else if (mode == "forget") {
    in_child([] { linear(41, 41, 41); }, true);
  } else if (mode == "say") {
    std::printf("%llu products\n",
                static_cast<unsigned long long>(gemmtune_fake_cublas()->products));
  } else if (mode == "next") {
    std::printf("next is %d\n", gemmtune_fake_next_place());
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

}  // namespace
}  // namespace gemmtune::cublas_preload

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!gemmtune::cublas_preload::run(argv[i])) return 98;
  }
  return 0;
}
