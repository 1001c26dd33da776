// What is followed of descriptors, against what the real cuBLASLt says of them: it makes and
// changes them without a GPU. GEMM_TUNE_TEST_CUBLASLT names one. Skipped where there is none.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../rounds.h"
#include "../scoped_variables.h"
#include "../test_folder.h"
#include "cublas_preload/entries.h"
#include "cublas_preload/recorder.h"

namespace gemmtune::cublas_preload {
namespace {

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

// The recorder of this process, from before the first call of an entry point.
Recorder& recorder() {
  static const TestFolder folder;
  static const ScopedVariables variables({{kFolderVariable, folder.path().string()}});
  Recorder* const made = Recorder::get();
  REQUIRE(made != nullptr);
  return *made;
}

// An attribute as the library has it.
template <class Value, class Descriptor, class Attribute>
Value real(const char* getter, Descriptor descriptor, Attribute attribute) {
  using Get = lt::Status(Descriptor, Attribute, void*, size_t, size_t*);
  auto* const get = reinterpret_cast<Get*>(dlsym(library(), getter));
  REQUIRE((get != nullptr));
  Value value{};
  size_t written = 0;
  REQUIRE(get(descriptor, attribute, &value, sizeof(value), &written) == lt::Status::success);
  return value;
}

template <class Value>
Value of_layout(lt::Layout layout, lt::LayoutAttribute attribute) {
  return real<Value>("cublasLtMatrixLayoutGetAttribute", layout, attribute);
}

template <class Value>
Value of_operation(lt::Operation operation, lt::OperationAttribute attribute) {
  return real<Value>("cublasLtMatmulDescGetAttribute", operation, attribute);
}

void check(lt::Layout layout) {
  using Attribute = lt::LayoutAttribute;
  const auto state = recorder().layouts.get(layout);
  REQUIRE(state.has_value());
  REQUIRE(state->memory.type == of_layout<lt::ElementType>(layout, Attribute::type));
  REQUIRE(state->memory.order == of_layout<lt::Order>(layout, Attribute::order));
  REQUIRE(state->rows == of_layout<uint64_t>(layout, Attribute::rows));
  REQUIRE(state->columns == of_layout<uint64_t>(layout, Attribute::columns));
  REQUIRE(state->memory.ld == of_layout<int64_t>(layout, Attribute::ld));
  REQUIRE(state->batch == of_layout<int32_t>(layout, Attribute::batch_count));
  REQUIRE(state->memory.stride == of_layout<int64_t>(layout, Attribute::batch_stride));
}

void check(lt::Operation operation) {
  using Attribute = lt::OperationAttribute;
  const auto state = recorder().operations.get(operation);
  REQUIRE(state.has_value());
  REQUIRE(state->compute == of_operation<lt::ComputeType>(operation, Attribute::compute_type));
  REQUIRE(state->scale_type == of_operation<lt::ElementType>(operation, Attribute::scale_type));
  REQUIRE(state->pointer_mode == of_operation<int32_t>(operation, Attribute::pointer_mode));
  REQUIRE(state->transpose_a == of_operation<lt::Transpose>(operation, Attribute::transpose_a));
  REQUIRE(state->transpose_b == of_operation<lt::Transpose>(operation, Attribute::transpose_b));
  REQUIRE(state->epilogue == of_operation<lt::Epilogue>(operation, Attribute::epilogue));
  REQUIRE(state->bias_type == of_operation<int32_t>(operation, Attribute::bias_type));
}

// Sets an attribute to anything of up to 8 bytes; the library refuses most of it.
template <class Descriptor, class Attribute, class Set>
void set_anything(std::mt19937_64& random, Descriptor descriptor, int attributes, const Set& set,
                  Attribute) {
  const auto attribute = static_cast<Attribute>(random() % static_cast<uint64_t>(attributes));
  const uint64_t value = random() % 3 == 0 ? random() : random() % 70;
  constexpr std::array<size_t, 4> kBytes = {4, 8, 4, 1};
  set(descriptor, attribute, &value, kBytes[random() % kBytes.size()]);
}

TEST_CASE("layouts are followed through whatever is set") {
  library();
  recorder();
  std::mt19937_64 random(17);
  for (int i = 0; i < rounds(2000); ++i) {
    std::array<uint64_t, 32> memory{};
    lt::Layout made = nullptr;
    const bool in_place = random() % 2 == 0;
    if (in_place) {
      made = reinterpret_cast<lt::Layout>(memory.data());
      REQUIRE(cublasLtMatrixLayoutInit_internal(made, 64, lt::ElementType::f16, 8, 4, 9) ==
              lt::Status::success);
    } else {
      REQUIRE(cublasLtMatrixLayoutCreate(&made, lt::ElementType::bf16, 64, 32, 65) ==
              lt::Status::success);
    }
    check(made);
    for (int j = 0; j < 10; ++j) {
      set_anything(random, made, 9, cublasLtMatrixLayoutSetAttribute, lt::LayoutAttribute::type);
      check(made);
    }
    if (in_place) continue;
    cublasLtMatrixLayoutDestroy(made);
    CHECK_FALSE(recorder().layouts.get(made).has_value());
  }
}

TEST_CASE("operations are followed through whatever is set") {
  library();
  recorder();
  std::mt19937_64 random(18);
  for (int i = 0; i < rounds(2000); ++i) {
    lt::Operation made = nullptr;
    REQUIRE(cublasLtMatmulDescCreate(&made, lt::ComputeType::f32_fast_tf32, lt::ElementType::f32) ==
            lt::Status::success);
    check(made);
    for (int j = 0; j < 10; ++j) {
      set_anything(random, made, 45, cublasLtMatmulDescSetAttribute,
                   lt::OperationAttribute::compute_type);
      check(made);
    }
    cublasLtMatmulDescDestroy(made);
    CHECK_FALSE(recorder().operations.get(made).has_value());
  }
}

TEST_CASE("an operation that is fresh, or was set to its defaults, is not odd") {
  library();
  recorder();
  lt::Operation made = nullptr;
  REQUIRE(cublasLtMatmulDescCreate(&made, lt::ComputeType::f32, lt::ElementType::f32) ==
          lt::Status::success);
  for (int attribute = 0; attribute < 45; ++attribute) {
    using Get = lt::Status(lt::Operation, int, void*, size_t, size_t*);
    auto* const get = reinterpret_cast<Get*>(dlsym(library(), "cublasLtMatmulDescGetAttribute"));
    std::array<uint64_t, 16> value{};
    size_t bytes = 0;
    if (get(made, attribute, value.data(), sizeof(value), &bytes) != lt::Status::success) continue;
    CAPTURE(attribute);
    cublasLtMatmulDescSetAttribute(made, static_cast<lt::OperationAttribute>(attribute),
                                   value.data(), bytes);
    CHECK(recorder().operations.get(made)->set_attributes == 0);
  }
  cublasLtMatmulDescDestroy(made);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
