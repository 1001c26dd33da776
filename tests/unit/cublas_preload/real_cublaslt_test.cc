// What is read from descriptors' memory, against what the real cuBLASLt says of them: it makes and
// changes them without a GPU.
#include "real_cublaslt.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include "../rounds.h"

namespace gemmtune::cublas_preload {
namespace {

using namespace real_cublaslt;  // NOLINT(google-build-using-namespace)

lt::Operation new_operation() {
  lt::Operation made = nullptr;
  REQUIRE(function<F::operation_create>("cublasLtMatmulDescCreate")(
              &made, lt::ComputeType::f32_fast_tf32, lt::ElementType::f32) == lt::Status::success);
  return made;
}

void destroy(lt::Operation operation) {
  function<F::operation_destroy>("cublasLtMatmulDescDestroy")(operation);
}

// An attribute as the library has it.
template <class Value, class Descriptor, class Attribute>
Value real(const char* getter, Descriptor descriptor, Attribute attribute) {
  using Get = lt::Status(Descriptor, Attribute, void*, size_t, size_t*);
  Value value{};
  size_t written = 0;
  REQUIRE(function<Get>(getter)(descriptor, attribute, &value, sizeof(value), &written) ==
          lt::Status::success);
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

// From 12.8 on.
bool has_scale_modes(lt::Operation operation) {
  using Get = lt::Status(lt::Operation, lt::OperationAttribute, void*, size_t, size_t*);
  lt::ScaleMode mode = {};
  size_t written = 0;
  return function<Get>("cublasLtMatmulDescGetAttribute")(
             operation, lt::OperationAttribute::a_scale_mode, &mode, sizeof(mode), &written) ==
         lt::Status::success;
}

void check(lt::Layout layout) {
  using Attribute = lt::LayoutAttribute;
  const auto state = read<LayoutState>(layout);
  REQUIRE(state.memory.type == of_layout<lt::ElementType>(layout, Attribute::type));
  REQUIRE(state.memory.order == of_layout<lt::Order>(layout, Attribute::order));
  REQUIRE(state.rows == of_layout<uint64_t>(layout, Attribute::rows));
  REQUIRE(state.columns == of_layout<uint64_t>(layout, Attribute::columns));
  REQUIRE(state.memory.ld == of_layout<int64_t>(layout, Attribute::ld));
  REQUIRE(state.batch == of_layout<int32_t>(layout, Attribute::batch_count));
  REQUIRE(state.memory.stride == of_layout<int64_t>(layout, Attribute::batch_stride));
}

void check(lt::Operation operation) {
  using Attribute = lt::OperationAttribute;
  const auto state = read<OperationState>(operation);
  REQUIRE(state.compute == of_operation<lt::ComputeType>(operation, Attribute::compute_type));
  REQUIRE(state.scale_type == of_operation<lt::ElementType>(operation, Attribute::scale_type));
  REQUIRE(state.pointer_mode == of_operation<int32_t>(operation, Attribute::pointer_mode));
  REQUIRE(state.transpose_a == of_operation<lt::Transpose>(operation, Attribute::transpose_a));
  REQUIRE(state.transpose_b == of_operation<lt::Transpose>(operation, Attribute::transpose_b));
  REQUIRE(state.epilogue == of_operation<lt::Epilogue>(operation, Attribute::epilogue));
  REQUIRE(state.bias_type == of_operation<int32_t>(operation, Attribute::bias_type));
  REQUIRE(state.scale_a == of_operation<const float*>(operation, Attribute::a_scale));
  REQUIRE(state.scale_b == of_operation<const float*>(operation, Attribute::b_scale));
  REQUIRE(state.fast_sums == (of_operation<int8_t>(operation, Attribute::fast_sums) != 0));
  if (has_scale_modes(operation)) {
    REQUIRE(state.mode_of_scale_a ==
            of_operation<lt::ScaleMode>(operation, Attribute::a_scale_mode));
    REQUIRE(state.mode_of_scale_b ==
            of_operation<lt::ScaleMode>(operation, Attribute::b_scale_mode));
  }
}

// Sets an attribute to anything of up to 8 bytes; the library refuses most of it. An operation's
// 16th lies beside its version, and is read as another one.
template <class Descriptor, class Attribute, class Set>
void set_anything(std::mt19937_64& random, Descriptor descriptor, int attributes, const Set& set,
                  Attribute) {
  const uint64_t number = random() % static_cast<uint64_t>(attributes);
  if (number == 16) return;
  const auto attribute = static_cast<Attribute>(number);
  const uint64_t value = random() % 3 == 0 ? random() : random() % 70;
  constexpr std::array<size_t, 4> kBytes = {4, 8, 4, 1};
  set(descriptor, attribute, &value, kBytes[random() % kBytes.size()]);
}

TEST_CASE("layouts are read, whatever is set") {
  std::mt19937_64 random(17);
  // Modes of a batch are small numbers, though not all versions refuse others.
  const auto set = [](lt::Layout layout, lt::LayoutAttribute attribute, const uint64_t* value,
                      size_t bytes) {
    if (attribute != lt::LayoutAttribute::batch_mode || *value < 1000)
      functions().layout_set(layout, attribute, value, bytes);
  };
  for (int i = 0; i < rounds(2000); ++i) {
    std::array<uint64_t, 8> bytes{};
    lt::Layout made = nullptr;
    const bool in_place = random() % 2 == 0;
    if (in_place) {
      bytes.fill(random());
      made = reinterpret_cast<lt::Layout>(bytes.data());
      REQUIRE(functions().layout_init(made, sizeof(bytes), lt::ElementType::f16, 8, 4, 9) ==
              lt::Status::success);
    } else {
      REQUIRE(function<F::layout_create>("cublasLtMatrixLayoutCreate")(
                  &made, lt::ElementType::bf16, 64, 32, 65) == lt::Status::success);
    }
    check(made);
    CHECK(read<LayoutState>(made).oddities == 0);
    for (int j = 0; j < 10; ++j) {
      set_anything(random, made, 10, set, lt::LayoutAttribute::type);
      check(made);
    }
    if (!in_place) function<F::layout_destroy>("cublasLtMatrixLayoutDestroy")(made);
  }
}

TEST_CASE("operations are read, whatever is set") {
  std::mt19937_64 random(18);
  for (int i = 0; i < rounds(2000); ++i) {
    std::array<uint64_t, 32> bytes{};
    bytes.fill(random());
    const bool in_place = random() % 2 == 0;
    const lt::Operation made =
        in_place ? reinterpret_cast<lt::Operation>(bytes.data()) : new_operation();
    if (in_place) {
      REQUIRE(functions().operation_init(made, sizeof(bytes), lt::ComputeType::f16,
                                         lt::ElementType::f16) == lt::Status::success);
    }
    check(made);
    CHECK(read<OperationState>(made).oddities == 0);
    for (int j = 0; j < 10; ++j) {
      set_anything(random, made, 45, functions().operation_set,
                   lt::OperationAttribute::compute_type);
      check(made);
    }
    if (!in_place) destroy(made);
  }
}

TEST_CASE("an operation for which a program has less memory is not read") {
  std::array<uint64_t, 32> bytes{};
  auto* const made = reinterpret_cast<lt::Operation>(bytes.data());
  OperationState state;
  for (size_t size = 8; size < 128; size += 8) {
    if (functions().operation_init(made, size, lt::ComputeType::f32, lt::ElementType::f32) ==
        lt::Status::success)
      CHECK_FALSE(memory().read(made, state));
  }
}

// Its number, size and default where the library has it.
struct Attribute {
  int number;
  size_t bytes;
  std::array<unsigned char, 64> value;
};

std::vector<Attribute> attributes(lt::Operation operation) {
  using Get = lt::Status(lt::Operation, int, void*, size_t, size_t*);
  auto* const get = function<Get>("cublasLtMatmulDescGetAttribute");
  std::vector<Attribute> found;
  for (int number = 0; number < 64; ++number) {
    Attribute attribute = {number, 0, {}};
    get(operation, number, nullptr, 0, &attribute.bytes);  // says how many
    if (attribute.bytes <= attribute.value.size() &&
        get(operation, number, attribute.value.data(), attribute.bytes, &attribute.bytes) ==
            lt::Status::success)
      found.push_back(attribute);
  }
  return found;
}

TEST_CASE("an operation is odd while an attribute without a field differs from a new one's") {
  using Name = lt::OperationAttribute;
  const lt::Operation made = new_operation();
  int odd = 0;
  for (const Attribute& attribute : attributes(made)) {
    const auto name = static_cast<Name>(attribute.number);
    const bool has_field =
        name == Name::compute_type || name == Name::scale_type || name == Name::pointer_mode ||
        name == Name::transpose_a || name == Name::transpose_b || name == Name::epilogue ||
        name == Name::bias_pointer || name == Name::fast_sums || name == Name::bias_type ||
        name == Name::a_scale || name == Name::b_scale || name == Name::a_scale_mode ||
        name == Name::b_scale_mode;
    CAPTURE(attribute.number);
    auto value = attribute.value;
    value[0] ^= 1;
    const auto set = [&](const auto& to) {
      return functions().operation_set(made, name, to.data(), attribute.bytes) ==
             lt::Status::success;
    };
    if (!set(value)) continue;
    OperationState state;
    const bool plain = memory().read(made, state) && state.oddities == 0;
    CHECK(plain == has_field);
    odd += plain ? 0 : 1;
    CHECK(set(attribute.value));
    CHECK(read<OperationState>(made).oddities == 0);
  }
  CHECK(odd >= 15);
  destroy(made);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
