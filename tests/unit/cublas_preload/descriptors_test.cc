#include "cublas_preload/descriptors.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

namespace gemmtune::cublas_preload {
namespace {

const float kOne = 1;
const float kZero = 0;

alignas(256) std::byte memory[1024];

CallPointers in_place(const float* beta = &kZero) {
  return {memory, memory + 256, memory + 512, memory + 512, beta};
}

// What is known of a call, to be changed.
struct Known {
  std::optional<OperationState> operation;
  std::optional<LayoutState> a;
  std::optional<LayoutState> b;
  std::optional<LayoutState> c;
  std::optional<LayoutState> d;

  operator MatmulStates() const {
    const auto at = [](const auto& state) { return state ? &*state : nullptr; };
    return {at(operation), at(a), at(b), at(c), at(d)};
  }
};

// D (8 x 4) = A (8 x 6) * B (6 x 4), column-major f16.
Known small_matmul() {
  const auto f16 = lt::ElementType::f16;
  Known states;
  states.operation = new_operation(lt::ComputeType::f32, lt::ElementType::f32);
  states.a = new_layout(f16, 8, 6, 9);
  states.b = new_layout(f16, 6, 4, 7);
  states.c = new_layout(f16, 8, 4, 10);
  states.d = states.c;
  return states;
}

uint32_t oddities(const MatmulStates& states, const CallPointers& pointers) {
  return matmul_product(states, pointers, 0).oddities;
}

uint32_t bit(Oddity oddity) {
  return static_cast<uint32_t>(oddity);
}

TEST_CASE("a product of cuBLASLt is what its descriptors say") {
  Known states = small_matmul();
  const Product plain = matmul_product(states, in_place(), 1024);
  CHECK(plain.m == 8);
  CHECK(plain.n == 4);
  CHECK(plain.k == 6);
  CHECK(plain.a.ld == 9);
  CHECK(plain.b.ld == 7);
  CHECK(plain.d.ld == 10);
  CHECK(plain.a.type == lt::ElementType::f16);
  CHECK(plain.workspace_bytes == 1024);
  CHECK(plain.align_bytes == 256);
  CHECK(plain.beta == Beta::zero);
  CHECK(plain.oddities == 0);

  states.operation->transpose_a = lt::Transpose::yes;
  states.operation->epilogue = lt::Epilogue::gelu_bias;
  states.operation->bias_type = static_cast<int32_t>(lt::ElementType::f16);
  states.a->rows = 6;
  states.a->columns = 8;
  states.a->memory.ld = 16;
  const Product turned = matmul_product(states, in_place(&kOne), 0);
  CHECK(turned.transpose_a == lt::Transpose::yes);
  CHECK(turned.k == 6);
  CHECK(turned.a.ld == 16);
  CHECK(turned.epilogue == lt::Epilogue::gelu_bias);
  CHECK(turned.bias_type == static_cast<int32_t>(lt::ElementType::f16));
  CHECK(turned.beta == Beta::other);
  CHECK(turned.oddities == 0);
}

TEST_CASE("batches have strides, and single products none") {
  Known states = small_matmul();
  for (auto* layout : {&states.a, &states.b, &states.c, &states.d}) (*layout)->memory.stride = 100;
  CHECK(matmul_product(states, in_place(), 0).a.stride == 0);
  for (auto* layout : {&states.a, &states.b, &states.c, &states.d}) (*layout)->batch = 3;
  const Product product = matmul_product(states, in_place(), 0);
  CHECK(product.batch == 3);
  CHECK(product.a.stride == 100);
  CHECK(product.d.stride == 100);
  CHECK(product.oddities == 0);
  states.b->batch = 1;
  CHECK(oddities(states, in_place()) == bit(Oddity::batches_disagree));
}

TEST_CASE("what a product has no field for is odd") {
  const Known states = small_matmul();
  Known changed = states;
  changed.operation->oddities = bit(Oddity::attribute) | bit(Oddity::sm_count);
  CHECK(oddities(changed, in_place()) == changed.operation->oddities);
  Known planar = states;
  planar.b->oddities = bit(Oddity::planar);
  CHECK(oddities(planar, in_place()) == bit(Oddity::planar));
  Known vector = states;
  vector.operation->pointer_mode = 2;
  CHECK(oddities(vector, in_place()) == bit(Oddity::scalar_vector));
  Known wrong = states;
  wrong.b->rows = 5;
  CHECK(oddities(wrong, in_place()) == bit(Oddity::sizes_disagree));
}

TEST_CASE("both operands are scaled in ways that go together, or neither is") {
  Known states = small_matmul();
  const auto product = [&] { return matmul_product(states, in_place(), 0); };
  CHECK(product().scales == ProductScales::none);
  states.operation->scale_a = &kOne;
  CHECK(product().oddities == bit(Oddity::attribute));
  states.operation->scale_b = &kOne;
  CHECK(product().scales == ProductScales::scalar);
  CHECK(product().oddities == 0);
  states.operation->mode_of_scale_a = lt::ScaleMode::outer_vector;
  CHECK(product().oddities == bit(Oddity::attribute));
  states.operation->mode_of_scale_b = lt::ScaleMode::outer_vector;
  CHECK(product().scales == ProductScales::outer_vector);
  CHECK(product().oddities == 0);
  states.operation->scale_a = states.operation->scale_b = nullptr;
  CHECK(product().oddities == bit(Oddity::attribute));
  states.operation->scale_a = states.operation->scale_b = &kOne;
  using Mode = lt::ScaleMode;
  constexpr auto kOther = static_cast<Mode>(2);  // of 32 values, which Hopper does not have
  for (const Mode of_a :
       {Mode::scalar, Mode::outer_vector, Mode::vec128, Mode::blk128x128, kOther}) {
    for (const Mode of_b :
         {Mode::scalar, Mode::outer_vector, Mode::vec128, Mode::blk128x128, kOther}) {
      states.operation->mode_of_scale_a = of_a;
      states.operation->mode_of_scale_b = of_b;
      const bool by_blocks = of_a == Mode::vec128 || of_b == Mode::vec128;
      const bool known = (of_a == of_b && of_a != Mode::blk128x128 && of_a != kOther) ||
                         (by_blocks && (of_a == Mode::blk128x128 || of_b == Mode::blk128x128));
      CHECK((product().oddities == 0) == known);
      CHECK((product().scales != ProductScales::none) == known);
    }
  }
}

TEST_CASE("sums in the tensor cores alone are asked for of 8-bit operands only") {
  Known states = small_matmul();
  states.operation->fast_sums = true;
  CHECK(matmul_product(states, in_place(), 0).fast_sums == 0);
  states.a->memory.type = states.b->memory.type = lt::ElementType::e5m2;
  CHECK(matmul_product(states, in_place(), 0).fast_sums == 1);
}

TEST_CASE("C may be elsewhere where it is not read") {
  const Known states = small_matmul();
  CallPointers apart = in_place();
  apart.c = memory;
  CHECK(oddities(states, apart) == 0);
  apart.beta = &kOne;
  CHECK(oddities(states, apart) == bit(Oddity::separate_c));
  Known other_layout = states;
  other_layout.c->memory.ld = 99;
  CHECK(oddities(other_layout, in_place()) == 0);
  CHECK(oddities(other_layout, in_place(&kOne)) == bit(Oddity::separate_c));
}

TEST_CASE("an unknown descriptor is said, and nothing is guessed") {
  for (int missing = 0; missing < 4; ++missing) {
    Known states = small_matmul();
    if (missing == 0) states.operation.reset();
    if (missing == 1) states.a.reset();
    if (missing == 2) states.b.reset();
    if (missing == 3) states.d.reset();
    const Product product = matmul_product(states, in_place(), 7);
    CHECK(product.oddities == bit(Oddity::unknown_descriptor));
    CHECK(product.m == 0);
  }
}

TEST_CASE("a product of cuBLAS has the settings of its handle") {
  Product sizes;
  sizes.a.stride = 5;
  HandleState handle;
  handle.workspace_bytes = 4096;
  handle.math_mode = 3;
  Product product = sizes;
  complete(product, handle, in_place(&kOne));
  CHECK(product.workspace_bytes == 4096);
  CHECK(product.math_mode == 3);
  CHECK(product.a.stride == 0);  // of a single product
  CHECK(product.beta == Beta::other);
  handle.pointer_mode = lt::PointerMode::device;
  handle.sm_count = 10;
  Product on_device = sizes;
  complete(on_device, handle, in_place(nullptr));
  CHECK(on_device.beta == Beta::on_device);
  CHECK(on_device.oddities == bit(Oddity::sm_count));
}

TEST_CASE("beta is zero in every type, with either sign") {
  const double f64[] = {0.0, -0.0, 1e-300};
  const uint16_t f16[] = {0, 0x8000, 1};
  const float f32[] = {0.0F, -0.0F, 1e-40F};
  for (int i = 0; i < 3; ++i) {
    const Beta expected = i < 2 ? Beta::zero : Beta::other;
    CHECK(beta_at(&f64[i], static_cast<lt::ElementType>(1)) == expected);
    CHECK(beta_at(&f16[i], lt::ElementType::f16) == expected);
    CHECK(beta_at(&f32[i], lt::ElementType::f32) == expected);
  }
  CHECK(beta_at(nullptr, lt::ElementType::f32) == Beta::zero);
}

TEST_CASE("alignment is the class of all three addresses") {
  const auto at = [](uintptr_t address) {
    return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  };
  CHECK(alignment_of(address_bits(at(512), at(256), at(1024))) == 256);
  CHECK(alignment_of(address_bits(at(512), at(128), at(1024))) == 16);
  CHECK(alignment_of(address_bits(at(512), at(256), at(1032))) == 8);
  CHECK(alignment_of(address_bits(at(516), at(256), at(1024))) == 4);
  CHECK(alignment_of(address_bits(at(512), at(258), at(1024))) == 2);
  CHECK(alignment_of(address_bits(at(512), at(256), at(1025))) == 1);
  CHECK(alignment_of(address_bits(nullptr, nullptr, nullptr)) == 256);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
