// The two ways to capture, on the real cuBLASLt: what descriptors' memory says, and what its log
// says of them. It logs without a GPU, though no product.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <string>

#include "../../cublas_preload/real_cublaslt.h"
#include "../../rounds.h"
#include "app/capture/cublaslt_log.h"

namespace gemmtune::app {
namespace {

using namespace cublas_preload;  // NOLINT(google-build-using-namespace)
using namespace real_cublaslt;   // NOLINT(google-build-using-namespace)

// What the library logged last of a question for algorithms, which names every descriptor.
std::string& logged() {
  static std::string text;
  return text;
}

void log(int, const char* name, const char* message) {
  if (std::string(name) == "cublasLtMatmulAlgoGetHeuristic") logged() = message;
}

// The library refuses some values.
template <class Descriptor, class Attribute, class Value>
void set(lt::Status (*function)(Descriptor, Attribute, const void*, size_t), Descriptor made,
         Attribute attribute, Value value) {
  function(made, attribute, &value, sizeof(value));
}

template <class Value, size_t kCount>
Value one_of(std::mt19937& random, const std::array<Value, kCount>& values) {
  return values[random() % kCount];
}

lt::ElementType random_type(std::mt19937& random) {
  return static_cast<lt::ElementType>(one_of<int, 7>(random, {0, 2, 14, 1, 3, 28, 10}));
}

const void* at(uintptr_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

lt::Layout random_layout(std::mt19937& random) {
  lt::Layout made = nullptr;
  const auto rows = static_cast<uint64_t>(random() % 100 + 1);
  const auto columns = static_cast<uint64_t>(random() % 100 + 1);
  REQUIRE(function<F::layout_create>("cublasLtMatrixLayoutCreate")(
              &made, random_type(random), rows, columns, 128) == lt::Status::success);
  using Attribute = lt::LayoutAttribute;
  auto* const setter = function<F::layout_set>("cublasLtMatrixLayoutSetAttribute");
  const auto sometimes = [&](uint32_t one_in, Attribute attribute, auto value) {
    if (random() % one_in == 0) set(setter, made, attribute, value);
  };
  sometimes(3, Attribute::order, static_cast<int32_t>(random() % 5));
  sometimes(3, Attribute::batch_count, static_cast<int32_t>(random() % 9 + 1));
  sometimes(3, Attribute::batch_stride, static_cast<int64_t>(random() % 9999));
  sometimes(20, Attribute::plane_offset, int64_t{256});
  return made;
}

lt::Operation random_operation(std::mt19937& random) {
  lt::Operation made = nullptr;
  const auto compute =
      static_cast<lt::ComputeType>(one_of<int, 9>(random, {64, 65, 68, 69, 74, 75, 77, 70, 72}));
  REQUIRE(function<F::operation_create>("cublasLtMatmulDescCreate")(
              &made, compute, scale_type_of(compute)) == lt::Status::success);
  using Attribute = lt::OperationAttribute;
  auto* const setter = function<F::operation_set>("cublasLtMatmulDescSetAttribute");
  const auto sometimes = [&](uint32_t one_in, Attribute attribute, auto value) {
    if (random() % one_in == 0) set(setter, made, attribute, value);
  };
  sometimes(3, Attribute::transpose_a, lt::Transpose::yes);
  sometimes(3, Attribute::transpose_b, lt::Transpose::yes);
  sometimes(3, Attribute::pointer_mode, static_cast<int32_t>(random() % 5));
  sometimes(3, Attribute::epilogue, one_of<uint32_t, 7>(random, {1, 2, 4, 6, 32, 36, 6}));
  sometimes(3, Attribute::bias_pointer, at(0x1000));
  sometimes(3, Attribute::bias_type, static_cast<int32_t>(random_type(random)));
  sometimes(3, Attribute::fast_sums, static_cast<int8_t>(1));
  sometimes(20, Attribute::sm_count, int32_t{32});
  sometimes(20, static_cast<Attribute>(17), at(0x2000));
  return made;
}

TEST_CASE("a log says of a product what its descriptors say") {
  function<lt::Status(void (*)(int, const char*, const char*))>("cublasLtLoggerSetCallback")(log);
  function<lt::Status(const char*)>("cublasLtLoggerOpenFile")("/dev/null");  // not to stdout too
  function<lt::Status(int)>("cublasLtLoggerSetLevel")(5);
  lt::Preference preference = nullptr;
  REQUIRE(function<F::preference_create>("cublasLtMatmulPreferenceCreate")(&preference) ==
          lt::Status::success);
  std::mt19937 random(23);
  for (int i = 0; i < rounds(3000); ++i) {
    const lt::Operation operation = random_operation(random);
    const lt::Layout a = random_layout(random);
    const lt::Layout b = random_layout(random);
    const lt::Layout d = random_layout(random);
    lt::Choice choice{};
    int returned = 0;
    function<F::get_heuristic>("cublasLtMatmulAlgoGetHeuristic")(nullptr, operation, a, b, d, d,
                                                                 preference, 1, &choice, &returned);
    const auto operation_state = read<OperationState>(operation);
    const auto a_state = read<LayoutState>(a);
    const auto b_state = read<LayoutState>(b);
    const auto d_state = read<LayoutState>(d);
    const bool on_host = operation_state.pointer_mode == 0;
    const std::string line =
        "[2026-03-02 10:00:00][cublasLt][1][Trace][cublasLtMatmul] A=0X100 B=0X200 C=0X300 "
        "D=0X300 " +
        logged() + " workSpaceSizeInBytes=64 beta=" + (on_host ? "0" : "?") + " stream=0X0";
    CAPTURE(line);
    const auto parsed = parse_log_line(line);
    REQUIRE(parsed.has_value());
    const double zero = 0;
    Product expected = matmul_product({&operation_state, &a_state, &b_state, &d_state, &d_state},
                                      {at(0x100), at(0x200), at(0x300), at(0x300), &zero}, 64);
    // The log has no words for orders and epilogues that no problem has.
    for (Operand* operand : {&expected.a, &expected.b, &expected.d}) {
      if (static_cast<int>(operand->order) > 2) operand->order = static_cast<lt::Order>(2);
    }
    REQUIRE(*parsed == expected);
    function<F::operation_destroy>("cublasLtMatmulDescDestroy")(operation);
    for (const lt::Layout layout : {a, b, d})
      function<F::layout_destroy>("cublasLtMatrixLayoutDestroy")(layout);
  }
  function<F::preference_destroy>("cublasLtMatmulPreferenceDestroy")(preference);
}

}  // namespace
}  // namespace gemmtune::app
