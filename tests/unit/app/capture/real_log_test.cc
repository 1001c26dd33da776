// The two ways to capture, on the real cuBLASLt: what is followed of descriptors, and what its log
// says of them. It logs without a GPU, though no product. GEMM_TUNE_TEST_CUBLASLT names a library;
// skipped where there is none.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "../../rounds.h"
#include "app/capture/cublaslt_log.h"
#include "cublas_preload/descriptors.h"

namespace gemmtune::app {
namespace {

using namespace cublas_preload;  // NOLINT(google-build-using-namespace)
using F = lt::Functions;

void* library() {
  static void* const handle = [] {
    const char* const named = std::getenv("GEMM_TUNE_TEST_CUBLASLT");
    for (const char* name :
         {named == nullptr ? "" : named, "libcublasLt.so.13", "libcublasLt.so.12",
          "/usr/local/cuda/lib64/libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.12"}) {
      if (*name == '\0') continue;
      if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL); found != nullptr) return found;
    }
    std::fprintf(stderr, "skipped: there is no cuBLASLt\n");
    std::exit(77);
  }();
  return handle;
}

template <class Signature>
Signature* function(const char* name) {
  auto* const found = reinterpret_cast<Signature*>(dlsym(library(), name));
  REQUIRE((found != nullptr));
  return found;
}

// What the library logged last of a question for algorithms, which names every descriptor.
std::string& logged() {
  static std::string text;
  return text;
}

void log(int, const char* name, const char* message) {
  if (std::string(name) == "cublasLtMatmulAlgoGetHeuristic") logged() = message;
}

// A descriptor of the library's and what is followed of it.
template <class Descriptor, class State, class Set>
struct Followed {
  Descriptor made = nullptr;
  State state;
  Set* real_set;

  template <class Attribute, class Value>
  void set(Attribute attribute, Value value) {
    if (real_set(made, attribute, &value, sizeof(value)) == lt::Status::success)
      set_attribute(state, attribute, &value, sizeof(value));
  }
};
using FollowedLayout = Followed<lt::Layout, LayoutState, F::layout_set>;
using FollowedOperation = Followed<lt::Operation, OperationState, F::operation_set>;

template <class Value, size_t kCount>
Value one_of(std::mt19937& random, const std::array<Value, kCount>& values) {
  return values[random() % kCount];
}

lt::ElementType random_type(std::mt19937& random) {
  return static_cast<lt::ElementType>(one_of<int, 6>(random, {0, 2, 14, 1, 3, 28}));
}

FollowedLayout random_layout(std::mt19937& random) {
  FollowedLayout layout;
  layout.real_set = function<F::layout_set>("cublasLtMatrixLayoutSetAttribute");
  const auto rows = static_cast<uint64_t>(random() % 100 + 1);
  const auto columns = static_cast<uint64_t>(random() % 100 + 1);
  const lt::ElementType type = random_type(random);
  REQUIRE(function<F::layout_create>("cublasLtMatrixLayoutCreate")(
              &layout.made, type, rows, columns, 128) == lt::Status::success);
  layout.state = new_layout(type, rows, columns, 128);
  using Attribute = lt::LayoutAttribute;
  if (random() % 3 == 0) layout.set(Attribute::order, static_cast<int32_t>(random() % 5));
  if (random() % 3 == 0) layout.set(Attribute::batch_count, static_cast<int32_t>(random() % 9 + 1));
  if (random() % 3 == 0) layout.set(Attribute::batch_stride, static_cast<int64_t>(random() % 9999));
  if (random() % 20 == 0) layout.set(Attribute::plane_offset, int64_t{256});
  return layout;
}

FollowedOperation random_operation(std::mt19937& random) {
  FollowedOperation operation;
  operation.real_set = function<F::operation_set>("cublasLtMatmulDescSetAttribute");
  const auto compute =
      static_cast<lt::ComputeType>(one_of<int, 8>(random, {64, 65, 68, 69, 74, 75, 77, 70}));
  const lt::ElementType scale = scale_type_of(compute);
  REQUIRE(function<F::operation_create>("cublasLtMatmulDescCreate")(&operation.made, compute,
                                                                    scale) == lt::Status::success);
  operation.state = new_operation(compute, scale);
  using Attribute = lt::OperationAttribute;
  const auto sometimes = [&](Attribute attribute, auto value) {
    if (random() % 3 == 0) operation.set(attribute, value);
  };
  sometimes(Attribute::transpose_a, lt::Transpose::yes);
  sometimes(Attribute::transpose_b, lt::Transpose::yes);
  sometimes(Attribute::pointer_mode, static_cast<int32_t>(random() % 5));
  sometimes(Attribute::epilogue, one_of<uint32_t, 7>(random, {1, 2, 4, 6, 32, 36, 6}));
  sometimes(Attribute::bias_pointer, reinterpret_cast<const void*>(uintptr_t{0x1000}));
  sometimes(Attribute::bias_type, static_cast<int32_t>(random_type(random)));
  sometimes(Attribute::fast_sums, static_cast<int8_t>(1));
  if (random() % 20 == 0) operation.set(static_cast<Attribute>(15), int32_t{32});
  if (random() % 20 == 0)
    operation.set(static_cast<Attribute>(17), reinterpret_cast<const void*>(uintptr_t{0x2000}));
  return operation;
}

const void* at(uintptr_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

TEST_CASE("a log says of a product what its descriptors were told") {
  function<lt::Status(void (*)(int, const char*, const char*))>("cublasLtLoggerSetCallback")(log);
  function<lt::Status(const char*)>("cublasLtLoggerOpenFile")("/dev/null");  // not to stdout too
  function<lt::Status(int)>("cublasLtLoggerSetLevel")(5);
  lt::Preference preference = nullptr;
  REQUIRE(function<F::preference_create>("cublasLtMatmulPreferenceCreate")(&preference) ==
          lt::Status::success);
  std::mt19937 random(23);
  for (int i = 0; i < rounds(3000); ++i) {
    FollowedOperation operation = random_operation(random);
    FollowedLayout a = random_layout(random);
    FollowedLayout b = random_layout(random);
    FollowedLayout d = random_layout(random);
    lt::Choice choice{};
    int returned = 0;
    function<F::get_heuristic>("cublasLtMatmulAlgoGetHeuristic")(
        nullptr, operation.made, a.made, b.made, d.made, d.made, preference, 1, &choice, &returned);
    const bool on_host = operation.state.pointer_mode == 0;
    const std::string line =
        "[2026-03-02 10:00:00][cublasLt][1][Trace][cublasLtMatmul] A=0X100 B=0X200 C=0X300 "
        "D=0X300 " +
        logged() + " workSpaceSizeInBytes=64 beta=" + (on_host ? "0" : "?") + " stream=0X0";
    CAPTURE(line);
    const auto parsed = parse_log_line(line);
    REQUIRE(parsed.has_value());
    const double zero = 0;
    const Product followed =
        matmul_product({&operation.state, &a.state, &b.state, &d.state, &d.state},
                       {at(0x100), at(0x200), at(0x300), at(0x300), &zero}, 64);
    Product expected = followed;
    // The log has no words for orders and epilogues that no problem has.
    for (Operand* operand : {&expected.a, &expected.b, &expected.d}) {
      if (static_cast<int>(operand->order) > 2) operand->order = static_cast<lt::Order>(2);
    }
    REQUIRE(*parsed == expected);
    function<F::operation_destroy>("cublasLtMatmulDescDestroy")(operation.made);
    for (const FollowedLayout* layout : {&a, &b, &d})
      function<F::layout_destroy>("cublasLtMatrixLayoutDestroy")(layout->made);
  }
  function<F::preference_destroy>("cublasLtMatmulPreferenceDestroy")(preference);
}

}  // namespace
}  // namespace gemmtune::app
