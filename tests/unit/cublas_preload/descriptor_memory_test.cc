#include "cublas_preload/descriptor_memory.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

#include "cublas_preload/asked.h"
#include "cublas_preload/descriptor_hash.h"
#include "fake_descriptors.h"

namespace gemmtune::cublas_preload {
namespace {

namespace fake = fake_cublas;
using O = lt::OperationAttribute;
using L = lt::LayoutAttribute;

constexpr DescriptorMemory::Functions kFunctions = {fake::init_layout, fake::set_layout,
                                                    fake::init_operation, fake::set_operation};

const DescriptorMemory& known() {
  static const auto tried = DescriptorMemory::try_out(kFunctions);
  REQUIRE(tried.has_value());
  return *tried;
}

template <class Value>
void set(fake::OperationMemory& operation, O attribute, Value value) {
  REQUIRE(fake::set_operation(operation.get(), attribute, &value, sizeof(value)) ==
          lt::Status::success);
}

template <class Value>
void set(fake::LayoutMemory& layout, L attribute, Value value) {
  REQUIRE(fake::set_layout(layout.get(), attribute, &value, sizeof(value)) == lt::Status::success);
}

uint32_t flag(Oddity oddity) {
  return static_cast<uint32_t>(oddity);
}

fake::OperationMemory new_memory() {
  return {lt::ComputeType::f32_fast_tf32, lt::ElementType::f32};
}

uint32_t oddities(fake::OperationMemory& operation) {
  OperationState state;
  REQUIRE(known().read(operation.get(), state));
  return state.oddities;
}

TEST_CASE("an operation says what was set") {
  fake::OperationMemory operation = new_memory();
  OperationState state;
  REQUIRE(known().read(operation.get(), state));
  CHECK(state.compute == lt::ComputeType::f32_fast_tf32);
  CHECK(state.epilogue == lt::Epilogue::none);
  CHECK(state.bias_type == Product::kTypeOfResult);
  CHECK(state.oddities == 0);
  set(operation, O::transpose_b, lt::Transpose::yes);
  set(operation, O::epilogue, lt::Epilogue::gelu_bias);
  set(operation, O::bias_pointer, static_cast<const void*>(&state));
  set(operation, O::bias_type, lt::ElementType::f16);
  set(operation, O::pointer_mode, int32_t{1});
  set(operation, O::fast_sums, int8_t{1});
  const float scales[2] = {};
  set(operation, O::a_scale, &scales[0]);
  set(operation, O::b_scale, &scales[1]);
  set(operation, O::b_scale_mode, lt::ScaleMode::outer_vector);
  REQUIRE(known().read(operation.get(), state));
  CHECK(state.fast_sums);
  CHECK(state.scale_a == &scales[0]);
  CHECK(state.scale_b == &scales[1]);
  CHECK(state.mode_of_scale_a == lt::ScaleMode::scalar);
  CHECK(state.mode_of_scale_b == lt::ScaleMode::outer_vector);
  CHECK(state.transpose_a == lt::Transpose::no);
  CHECK(state.transpose_b == lt::Transpose::yes);
  CHECK(state.epilogue == lt::Epilogue::gelu_bias);
  CHECK(state.bias == &state);
  CHECK(state.bias_type == static_cast<int32_t>(lt::ElementType::f16));
  CHECK(state.pointer_mode == 1);
  CHECK(state.oddities == 0);
}

TEST_CASE("an operation is odd while anything else differs from a new one") {
  fake::OperationMemory operation = new_memory();
  for (const int attribute : {10, 11, 12, 13, 14, 19, 20, 21, 23, 24, 36, 38}) {
    CAPTURE(attribute);
    set(operation, static_cast<O>(attribute), uint64_t{7} << 40);
    CHECK(oddities(operation) == flag(Oddity::attribute));
    set(operation, static_cast<O>(attribute), uint64_t{0});
    CHECK(oddities(operation) == 0);
  }
  set(operation, static_cast<O>(6), int32_t{0});  // half of the matrix
  CHECK(oddities(operation) == flag(Oddity::attribute));
  set(operation, static_cast<O>(6), int32_t{2});
  set(operation, O::transpose_c, lt::Transpose::yes);
  set(operation, O::sm_count, int32_t{32});
  CHECK(oddities(operation) == (flag(Oddity::transposed_result) | flag(Oddity::sm_count)));
}

// As cuBLASLt 12.0 to 12.7.
lt::Status set_without_modes(lt::Operation operation, O attribute, const void* value,
                             size_t bytes) {
  if (attribute == O::a_scale_mode || attribute == O::b_scale_mode)
    return lt::Status::invalid_value;
  return fake::set_operation(operation, attribute, value, bytes);
}

// In the place of others, as each version has them.
lt::Status set_modes_elsewhere(lt::Operation operation, O attribute, const void* value,
                               size_t bytes) {
  if (attribute == O::a_scale_mode) attribute = static_cast<O>(34);
  if (attribute == O::b_scale_mode) attribute = static_cast<O>(35);
  return fake::set_operation(operation, attribute, value, bytes);
}

// Not as they are set.
lt::Status set_modes_by_halves(lt::Operation operation, O attribute, const void* value,
                               size_t bytes) {
  if (attribute == O::a_scale_mode) {
    fake::set_operation(operation, static_cast<O>(34), value, bytes);
    return fake::set_operation(operation, static_cast<O>(35), value, bytes);
  }
  return fake::set_operation(operation, attribute, value, bytes);
}

TEST_CASE("modes of scales are found wherever a library keeps them, or it has none") {
  DescriptorMemory::Functions functions = kFunctions;
  functions.operation_set = set_without_modes;
  const auto without = DescriptorMemory::try_out(functions);
  REQUIRE(without.has_value());
  fake::OperationMemory operation = new_memory();
  OperationState state;
  REQUIRE(without->read(operation.get(), state));
  CHECK(state.mode_of_scale_a == lt::ScaleMode::scalar);
  CHECK(state.oddities == 0);
  functions.operation_set = set_modes_elsewhere;
  const auto elsewhere = DescriptorMemory::try_out(functions);
  REQUIRE(elsewhere.has_value());
  const auto mode = lt::ScaleMode::outer_vector;
  set_modes_elsewhere(operation.get(), O::a_scale_mode, &mode, sizeof(mode));
  REQUIRE(elsewhere->read(operation.get(), state));
  CHECK(state.mode_of_scale_a == lt::ScaleMode::outer_vector);
  CHECK(state.mode_of_scale_b == lt::ScaleMode::scalar);
  CHECK(state.oddities == 0);
  REQUIRE(known().read(operation.get(), state));
  CHECK(state.oddities == flag(Oddity::attribute));
  functions.operation_set = set_modes_by_halves;
  CHECK_FALSE(DescriptorMemory::try_out(functions).has_value());
}

TEST_CASE("a layout says what was set") {
  fake::LayoutMemory layout(lt::ElementType::bf16, 8, 6, 9);
  LayoutState state;
  REQUIRE(known().read(layout.get(), state));
  CHECK(state == new_layout(lt::ElementType::bf16, 8, 6, 9));
  set(layout, L::order, lt::Order::row_major);
  set(layout, L::batch_count, int32_t{5});
  set(layout, L::batch_stride, int64_t{-48});
  REQUIRE(known().read(layout.get(), state));
  CHECK(state.memory.order == lt::Order::row_major);
  CHECK(state.batch == 5);
  CHECK(state.memory.stride == -48);
  CHECK(state.oddities == 0);
  set(layout, L::plane_offset, int64_t{256});
  set(layout, L::batch_mode, int32_t{1});
  REQUIRE(known().read(layout.get(), state));
  CHECK(state.oddities == (flag(Oddity::planar) | flag(Oddity::pointer_array)));
}

TEST_CASE("a layout of version 1 has an attribute more, which has to be 0") {
  // From memory where that attribute is anything.
  fake::LayoutMemory layout(lt::ElementType::f32, 3, 3, 3);
  auto* const bytes = reinterpret_cast<unsigned char*>(layout.get());
  const auto oddities = [&](unsigned char version, unsigned char later) {
    bytes[38] = version;
    bytes[60] = later;
    LayoutState state;
    REQUIRE(known().read(layout.get(), state));
    return state.oddities;
  };
  CHECK(oddities(0, 9) == 0);
  CHECK(oddities(1, 0) == 0);
  CHECK(oddities(1, 9) == flag(Oddity::attribute));
  bytes[38] = 2;
  LayoutState state;
  CHECK_FALSE(known().read(layout.get(), state));
}

TEST_CASE("null and operations of other versions are not read") {
  OperationState operation;
  LayoutState layout;
  CHECK_FALSE(known().read(lt::Operation{}, operation));
  CHECK_FALSE(known().read(lt::Layout{}, layout));
  // As long as what a program of older headers has room for: reading on would be out of bounds.
  alignas(16) std::array<unsigned char, 8> shorter = {4};
  CHECK_FALSE(known().read(reinterpret_cast<lt::Operation>(shorter.data()), operation));
}

// --- Hashes --------------------------------------------------------------------------------------

// A call of cublasLtMatmul with descriptors of its own.
struct Described {
  fake::OperationMemory operation = new_memory();
  std::array<fake::LayoutMemory, 4> layouts = {fake::LayoutMemory(lt::ElementType::bf16, 8, 6, 8),
                                               fake::LayoutMemory(lt::ElementType::bf16, 6, 4, 6),
                                               fake::LayoutMemory(lt::ElementType::bf16, 8, 4, 8),
                                               fake::LayoutMemory(lt::ElementType::bf16, 8, 4, 8)};
  float beta = 0;
  MatmulCall call;

  Described() {
    call.handle = reinterpret_cast<lt::Handle>(uintptr_t{0x100});
    call.beta = &beta;
    call.c = call.d = reinterpret_cast<void*>(uintptr_t{0x3000});  // NOLINT
  }
  uint64_t hash() {
    call.operation = operation.get();
    call.a_layout = layouts[0].get();
    call.b_layout = layouts[1].get();
    call.c_layout = layouts[2].get();
    call.d_layout = layouts[3].get();
    return key_of(call);
  }
  static uint64_t key_of(const MatmulCall& call) {
    return key_of_call(known().extent(), call.handle, call.operation, call.a, call.a_layout, call.b,
                       call.b_layout, call.beta, call.c, call.c_layout, call.d, call.d_layout,
                       call.workspace_bytes);
  }
};

TEST_CASE("calls that ask for the same have one hash, wherever their operands are") {
  Described call;
  Described other;
  CHECK(call.hash() == other.hash());
  CHECK(call.hash() != 0);
  set(other.operation, O::bias_pointer, static_cast<const void*>(&call));
  other.call.a = reinterpret_cast<const void*>(uintptr_t{0x7700});           // NOLINT
  other.call.c = other.call.d = reinterpret_cast<void*>(uintptr_t{0x4400});  // NOLINT
  other.beta = -0.0F;
  CHECK(call.hash() == other.hash());
  const float scales[2] = {};
  for (Described* scaled : {&call, &other}) {
    set(scaled->operation, O::a_scale, &scales[scaled == &call ? 0 : 1]);
    CHECK((call.hash() == other.hash()) == (scaled == &other));
  }
}

TEST_CASE("whatever else a call says changes its hash") {
  using Change = void (*)(Described&);
  const std::vector<Change> changes = {
      [](Described&) {},
      [](Described& x) { x.call.handle = nullptr; },
      [](Described& x) { x.call.workspace_bytes = 1 << 20; },
      [](Described& x) { x.call.c = nullptr; },
      [](Described& x) { x.call.a = reinterpret_cast<const void*>(uintptr_t{16}); },  // NOLINT
      [](Described& x) { x.call.b = reinterpret_cast<const void*>(uintptr_t{2}); },   // NOLINT
      [](Described& x) { x.beta = 1; },
      [](Described& x) { set(x.operation, O::pointer_mode, int32_t{1}); }};
  std::set<uint64_t> hashes;
  for (const Change change : changes) {
    Described call;
    change(call);
    CHECK(hashes.insert(call.hash()).second);
  }
  for (const fake::Place& place : fake::kOperationPlaces) {
    const auto attribute = static_cast<O>(place.attribute);
    if (attribute == O::bias_pointer || attribute == O::pointer_mode || place.attribute == 16)
      continue;
    CAPTURE(place.attribute);
    Described call;
    const uint64_t value = 5;
    fake::set_operation(call.operation.get(), attribute, &value, place.bytes);
    CHECK(hashes.insert(call.hash()).second);
  }
  for (size_t i = 0; i < 4; ++i) {
    for (const fake::Place& place : fake::kLayoutPlaces) {
      CAPTURE(place.attribute);
      Described call;
      const uint64_t value = 5;
      fake::set_layout(call.layouts[i].get(), static_cast<L>(place.attribute), &value, place.bytes);
      CHECK(hashes.insert(call.hash()).second);
    }
  }
}

TEST_CASE("with and without AES rounds, every byte but those of addresses is in the hash") {
  std::array<unsigned char, 192> operation = {};
  std::array<std::array<unsigned char, 64>, 4> layouts = {};
  for (const auto hash : {&hash_of, &hash_by_multiplying}) {
    for (const size_t bytes : {size_t{136}, size_t{168}, size_t{176}, size_t{184}}) {
      CAPTURE(bytes);
      const auto now = [&] {
        return hash({operation.data(), bytes, layouts[0].data(), layouts[1].data(),
                     layouts[2].data(), layouts[3].data()});
      };
      std::set<uint64_t> hashes = {now()};
      size_t changes = 0;
      const auto change = [&](unsigned char& byte) {
        for (const unsigned char value : {1, 128}) {
          byte = value;
          hashes.insert(now());
          ++changes;
        }
        byte = 0;
      };
      const auto is_in = [](size_t i, size_t first, size_t count) {
        return i >= first && i < first + count;
      };
      for (size_t i = 0; i < bytes; ++i) {
        if (!is_in(i, HashedDescriptors::kBias, 8) && !is_in(i, HashedDescriptors::kScales, 16))
          change(operation[i]);
      }
      for (auto& layout : layouts) {
        for (size_t i = 0; i < HashedDescriptors::kLayoutBytes; ++i) change(layout[i]);
      }
      CHECK(hashes.size() == changes + 1);
      const uint64_t before = now();
      operation[HashedDescriptors::kBias] = 9;
      CHECK(now() == before);
      operation[HashedDescriptors::kBias] = 0;
      // Of scales, which of them there are.
      for (const size_t scale : {HashedDescriptors::kScales, HashedDescriptors::kScales + 8}) {
        operation[scale + 1] = 1;
        const uint64_t with = now();
        CHECK(hashes.insert(with).second);
        operation[scale + 5] = 7;
        CHECK(now() == with);
        operation[scale + 1] = operation[scale + 5] = 0;
      }
    }
  }
}

TEST_CASE("a call with a descriptor that cannot be read has no hash") {
  Described call;
  call.hash();
  for (const auto layout : {&MatmulCall::a_layout, &MatmulCall::b_layout, &MatmulCall::c_layout,
                            &MatmulCall::d_layout}) {
    MatmulCall without = call.call;
    without.*layout = nullptr;
    CHECK(Described::key_of(without) == 0);
  }
  MatmulCall without = call.call;
  without.operation = nullptr;
  CHECK(Described::key_of(without) == 0);
  *reinterpret_cast<unsigned char*>(call.operation.get()) = 4;  // another version
  CHECK(call.hash() == 0);
}

// --- Libraries -----------------------------------------------------------------------------------

// As the fake, but for what a test changes.
lt::Status no_init(lt::Operation, size_t, lt::ComputeType, lt::ElementType) {
  return lt::Status::not_supported;
}
lt::Status set_elsewhere(lt::Operation operation, O attribute, const void* value, size_t bytes) {
  return fake::set_operation(operation, attribute == O::transpose_a ? O::transpose_b : attribute,
                             value, bytes);
}
lt::Status set_more(lt::Layout layout, L attribute, const void* value, size_t bytes) {
  const uint64_t rows = 3;
  fake::set_layout(layout, L::rows, &rows, sizeof(rows));
  return fake::set_layout(layout, attribute, value, bytes);
}
lt::Status set_nothing(lt::Layout, L, const void*, size_t) {
  return lt::Status::success;
}

TEST_CASE("a library that keeps its descriptors in another way is found out") {
  const auto works = [](const auto& change) {
    DescriptorMemory::Functions functions = kFunctions;
    change(functions);
    return DescriptorMemory::try_out(functions).has_value();
  };
  using Functions = DescriptorMemory::Functions;
  CHECK(works([](Functions&) {}));
  CHECK_FALSE(works([](Functions& f) { f.operation_set = nullptr; }));
  CHECK_FALSE(works([](Functions& f) { f.layout_init = nullptr; }));
  CHECK_FALSE(works([](Functions& f) { f.operation_init = no_init; }));
  CHECK_FALSE(works([](Functions& f) { f.operation_set = set_elsewhere; }));
  CHECK_FALSE(works([](Functions& f) { f.layout_set = set_more; }));
  CHECK_FALSE(works([](Functions& f) { f.layout_set = set_nothing; }));
}

TEST_CASE("functions of no cuBLASLt have no descriptors") {
  CHECK_FALSE(DescriptorMemory::of_library(reinterpret_cast<const void*>(&no_init)).has_value());
}

}  // namespace
}  // namespace gemmtune::cublas_preload
