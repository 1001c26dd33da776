// What the library that `gemm-tune run` preloads adds to calls that it hands on: each call by the
// entry point that is compiled in here, and by the (fake) cuBLAS's function behind it.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cublas_preload/entries.h"
#include "cublas_preload/own/run_settings.h"
#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {
namespace {

const float kOne = 1;
const float kZero = 0;
alignas(256) float matrix[64];

template <class Signature>
Signature* behind(const char* name) {
  return reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name));
}

vendor::blas::Handle handle() {
  static const vendor::blas::Handle made = [] {
    vendor::blas::Handle handle = nullptr;
    behind<vendor::blas::Settings::create>("cublasCreate_v2")(&handle);
    return handle;
  }();
  return made;
}

void sgemm_once(Products32::gemm<float>* function) {
  function(handle(), lt::Transpose::no, lt::Transpose::no, 64, 64, 64, &kOne, matrix, 64, matrix,
           64, &kZero, matrix, 64);
}
void sgemm(benchmark::State& state, Products32::gemm<float>* function) {
  for (auto _ : state) sgemm_once(function);
}
BENCHMARK_CAPTURE(sgemm, plain, behind<Products32::gemm<float>>("cublasSgemm_v2"));
BENCHMARK_CAPTURE(sgemm, run, &cublasSgemm_v2);

// What PyTorch does for a product: descriptors, the heuristic, cublasLtMatmul.
struct LtFunctions {
  lt::Functions::operation_create* operation_create;
  lt::Functions::operation_set* operation_set;
  lt::Functions::operation_destroy* operation_destroy;
  lt::Functions::layout_create* layout_create;
  lt::Functions::layout_destroy* layout_destroy;
  lt::Functions::preference_create* preference_create;
  lt::Functions::preference_set* preference_set;
  lt::Functions::preference_destroy* preference_destroy;
  lt::Functions::get_heuristic* get_heuristic;
  lt::Functions::matmul* matmul;
};

LtFunctions plain() {
  using F = lt::Functions;
  return {behind<F::operation_create>("cublasLtMatmulDescCreate"),
          behind<F::operation_set>("cublasLtMatmulDescSetAttribute"),
          behind<F::operation_destroy>("cublasLtMatmulDescDestroy"),
          behind<F::layout_create>("cublasLtMatrixLayoutCreate"),
          behind<F::layout_destroy>("cublasLtMatrixLayoutDestroy"),
          behind<F::preference_create>("cublasLtMatmulPreferenceCreate"),
          behind<F::preference_set>("cublasLtMatmulPreferenceSetAttribute"),
          behind<F::preference_destroy>("cublasLtMatmulPreferenceDestroy"),
          behind<F::get_heuristic>("cublasLtMatmulAlgoGetHeuristic"),
          behind<F::matmul>("cublasLtMatmul")};
}

LtFunctions under_run() {
  LtFunctions f = plain();
  f.matmul = &cublasLtMatmul;
  return f;
}

void lt_matmul_alone(benchmark::State& state, const LtFunctions& f) {
  lt::Operation operation = nullptr;
  lt::Layout layout = nullptr;
  f.operation_create(&operation, lt::ComputeType::f32, lt::ElementType::f32);
  f.layout_create(&layout, lt::ElementType::f32, 64, 64, 64);
  auto* const lt_handle = reinterpret_cast<lt::Handle>(handle());
  const lt::Algorithm algorithm = {};
  for (auto _ : state) {
    f.matmul(lt_handle, operation, &kOne, matrix, layout, matrix, layout, &kZero, matrix, layout,
             matrix, layout, &algorithm, nullptr, 0, nullptr);
  }
}
BENCHMARK_CAPTURE(lt_matmul_alone, plain, plain());
BENCHMARK_CAPTURE(lt_matmul_alone, run, under_run());

void product_with_all(const LtFunctions& f) {
  auto* const lt_handle = reinterpret_cast<lt::Handle>(handle());
  const auto transpose = lt::Transpose::yes;
  const uint64_t bytes = 1 << 20;
  lt::Operation operation = nullptr;
  lt::Layout layouts[3] = {};
  lt::Preference preference = nullptr;
  lt::Choice choice = {};
  int returned = 1;
  f.operation_create(&operation, lt::ComputeType::f32, lt::ElementType::f32);
  f.operation_set(operation, lt::OperationAttribute::transpose_a, &transpose, sizeof(transpose));
  f.operation_set(operation, lt::OperationAttribute::transpose_b, &transpose, sizeof(transpose));
  for (lt::Layout& layout : layouts) f.layout_create(&layout, lt::ElementType::f32, 64, 64, 64);
  f.preference_create(&preference);
  for (const int attribute : {1, 5, 6, 7, 8})
    f.preference_set(preference, static_cast<lt::PreferenceAttribute>(attribute), &bytes, 8);
  f.get_heuristic(lt_handle, operation, layouts[0], layouts[1], layouts[2], layouts[2], preference,
                  1, &choice, &returned);
  f.matmul(lt_handle, operation, &kOne, matrix, layouts[0], matrix, layouts[1], &kZero, matrix,
           layouts[2], matrix, layouts[2], &choice.algorithm, nullptr, 0, nullptr);
  f.preference_destroy(preference);
  for (const lt::Layout layout : layouts) f.layout_destroy(layout);
  f.operation_destroy(operation);
}

void lt_matmul_with_all(benchmark::State& state, const LtFunctions& f) {
  for (auto _ : state) product_with_all(f);
}
BENCHMARK_CAPTURE(lt_matmul_with_all, plain, plain());
BENCHMARK_CAPTURE(lt_matmul_with_all, run, under_run());

// Work that leaves nothing of ours in a core's caches, neither data nor (on x86-64) code, as that
// of a program between two products does.
class OtherWork {
 public:
  OtherWork() : data_(kBytes) {
#ifdef __x86_64__
    constexpr unsigned char kNop = 0x90;
    constexpr unsigned char kReturn = 0xC3;
    void* const memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    std::memset(memory, kNop, kBytes);
    static_cast<unsigned char*>(memory)[kBytes - 1] = kReturn;
    if (::mprotect(memory, kBytes, PROT_READ | PROT_EXEC) == 0)
      code_ = reinterpret_cast<void (*)()>(memory);
#endif
  }

  void run() {
    constexpr size_t kLine = 64;
    for (size_t i = 0; i < data_.size(); i += kLine) ++data_[i];
    if (code_ != nullptr) code_();
  }

 private:
  static constexpr size_t kBytes = size_t{8} << 20;

  std::vector<unsigned char> data_;
  void (*code_)() = nullptr;
};

double median_of(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// A product behind other work, plain and by `run` in turns: medians, and that of the differences.
template <class Product, class Functions>
void behind_other_work(benchmark::State& state, Product product, const Functions& plain,
                       const Functions& under_run) {
  using Clock = std::chrono::steady_clock;
  OtherWork other_work;
  std::vector<double> times[2];
  std::vector<double> more;
  bool first = false;
  for (auto _ : state) {
    first = !first;
    for (const bool run : {first, !first}) {
      other_work.run();
      const auto start = Clock::now();
      product(run ? under_run : plain);
      times[run ? 1 : 0].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    more.push_back(times[1].back() - times[0].back());
  }
  state.counters["plain"] = median_of(times[0]);
  state.counters["run"] = median_of(times[1]);
  state.counters["more"] = median_of(more);
}

void lt_matmul_with_all_cold(benchmark::State& state) {
  behind_other_work(state, product_with_all, plain(), under_run());
}
BENCHMARK(lt_matmul_with_all_cold)->Iterations(3000);

void sgemm_cold(benchmark::State& state) {
  behind_other_work(state, sgemm_once, behind<Products32::gemm<float>>("cublasSgemm_v2"),
                    &cublasSgemm_v2);
}
BENCHMARK(sgemm_cold)->Iterations(3000);

}  // namespace
}  // namespace gemmtune::cublas_preload

int main(int argc, char** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "gemm-tune-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  setenv(gemmtune::cublas_preload::kRunFolderVariable, folder.c_str(), 1);
  setenv(gemmtune::cublas_preload::kRunDatabaseVariable, "/nowhere", 1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(folder);
  return 0;
}
