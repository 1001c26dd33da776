// Every function that libgemmtune_cublas.so takes, in front of fake libraries. This program is
// linked to it first and to the fakes behind it, as a program is that preloads it.
#include "cublas_preload/entries.h"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../rounds.h"
#include "../scoped_variables.h"
#include "../test_folder.h"
#include "fake_calls.h"
#include "product_records.h"
#include "random_calls.h"

namespace gemmtune::cublas_preload {
namespace {

fake_cublas::Calls& fake() {
  return *gemmtune_fake_cublas();
}

// The folder of this process's file: named before the first call, for the life of the process.
const std::filesystem::path& folder() {
  static const TestFolder test_folder;
  static const ScopedVariables variables({{kFolderVariable, test_folder.path().string()}});
  return test_folder.path();
}

FileContent recorded() {
  return read_records(only_file(folder()));
}

// Everything that was counted since it was made.
class Counted {
 public:
  Counted() : before_(total()) {}
  uint64_t calls() const { return total() - before_; }

 private:
  static uint64_t total() {
    folder();
    // Any call at all makes the file.
    cublasSetStream_v2(nullptr, nullptr);
    const FileContent content = recorded();
    return content.calls() + content.header.calls_left_out;
  }
  uint64_t before_;
};

// --- Calls with any arguments --------------------------------------------------------------------

TEST_CASE("100000 calls of every entry point are handed on with their arguments") {
  const Counted counted;
  RandomArguments random;
  fake().keep = true;
  int products = 0;
  const int each = rounds(100000) / kEntries + 1;
  for (int round = 0; round < each; ++round) {
    fake().status = round % 10 == 9 ? 7 : 0;
    const int counts = fake().status == 0 ? 1 : 0;
#define GEMMTUNE_CHECK_ENTRY(name, signature) Caller<signature>::check(&name, #name, random);
#define GEMMTUNE_CHECK_PRODUCT(name, signature) \
  GEMMTUNE_CHECK_ENTRY(name, signature)         \
  products += counts;
    GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_CHECK_PRODUCT)
    GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_CHECK_ENTRY)
    GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_CHECK_ENTRY)
    products += counts;  // cublasLtMatmul
  }
  fake().keep = false;
  fake().status = 0;
  fake().calls.clear();
  // A table that is full counts calls that failed too.
  const FileContent content = recorded();
  CHECK(content.header.used == content.header.capacity);
  CHECK(counted.calls() >= static_cast<uint64_t>(products));
  CHECK(counted.calls() <= static_cast<uint64_t>(products) * 10 / 9 + 100);
}

// --- What is counted
// ------------------------------------------------------------------------------

using vendor::blas::Handle;

const float kOne = 1;
const float kZero = 0;

Handle handle_of(uintptr_t number) {
  return reinterpret_cast<Handle>(number << 12);  // NOLINT(performance-no-int-to-ptr)
}

void sgemm(int m) {
  cublasSgemm_v2(handle_of(9), lt::Transpose::no, lt::Transpose::no, m, 8, 8, &kOne, nullptr, m,
                 nullptr, 8, &kZero, nullptr, m);
}

void gemm_ex() {
  cublasGemmEx(handle_of(9), lt::Transpose::no, lt::Transpose::no, 8, 8, 8, &kOne, nullptr,
               lt::ElementType::f16, 8, nullptr, lt::ElementType::f16, 8, &kZero, nullptr,
               lt::ElementType::f16, 8, lt::ComputeType::f32, vendor::blas::Algorithm::by_default);
}

TEST_CASE("a product that cuBLAS makes by cuBLASLt is counted once") {
  const Counted counted;
  const uint64_t before = fake().products;
  fake().nested = gemmtune_fake_nested;
  gemm_ex();
  fake().nested = nullptr;
  CHECK(fake().products - before == 2);  // both reached the libraries
  CHECK(counted.calls() == 1);
}

TEST_CASE("threads' products are all counted") {
  constexpr int kThreads = 8;
  const int calls = rounds(5000);
  const Counted counted;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < calls; ++i) {
        sgemm(i % 50 + 1);
        cublasSetStream_v2(handle_of(static_cast<uintptr_t>(t)), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counted.calls() == static_cast<uint64_t>(kThreads * calls));
  uint64_t samples = 0;
  for (const ProductRecord& record : recorded().records) samples += record.cublas.taken;
  CHECK(samples > 0);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
