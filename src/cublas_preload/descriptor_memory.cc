#include "cublas_preload/descriptor_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cublas_preload/call_hash.h"
#include "cublas_preload/descriptor_hash.h"
#include "cublas_preload/log.h"
#include "cublas_preload/real_functions.h"

namespace gemmtune::cublas_preload {
namespace {

using F = lt::Functions;
using L = lt::LayoutAttribute;
using O = lt::OperationAttribute;

// A cublasLtMatrixLayout_t of version 0. Those of version 1, as cuBLASLt 13.10 makes them, have an
// attribute more.
struct LayoutMemory {
  lt::ElementType type;
  lt::Order order;
  uint64_t rows;
  uint64_t columns;
  int64_t ld;
  int32_t batch_count;
  int16_t batch_mode;
  int16_t version;
  int64_t batch_stride;
  int64_t plane_offset;
};

// How a cublasLtMatmulDesc_t begins.
struct OperationHead {
  std::array<uint32_t, 2> unnamed_0;
  lt::ComputeType compute;
  lt::ElementType scale_type;
  int32_t pointer_mode;
};

// One, as far as its attributes have names here.
struct OperationMemory {
  OperationHead head;
  lt::Transpose transpose_a;
  lt::Transpose transpose_b;
  lt::Transpose transpose_c;
  uint32_t unnamed_32;
  lt::Epilogue epilogue;
  const void* bias;
  std::array<uint64_t, 5> unnamed_48;
  int32_t sm_count;
  std::array<uint32_t, 3> unnamed_92;
  const float* scale_a;
  const float* scale_b;
  std::array<uint32_t, 9> unnamed_120;
  int8_t fast_sums;
  int32_t bias_type;
};
static_assert(offsetof(OperationMemory, sm_count) == 88 &&
              offsetof(OperationMemory, scale_b) == 112 &&
              offsetof(OperationMemory, bias_type) == 160);

// Where an attribute lies, and a value of it that a new descriptor does not have.
template <class Attribute>
struct Field {
  Attribute attribute;
  size_t offset;
  size_t bytes;
  uint64_t value;
};

constexpr Field<L> kLayoutFields[] = {
    {L::type, offsetof(LayoutMemory, type), 4, 2},
    {L::order, offsetof(LayoutMemory, order), 4, 1},
    {L::rows, offsetof(LayoutMemory, rows), 8, uint64_t{1} << 40 | 5},
    {L::columns, offsetof(LayoutMemory, columns), 8, uint64_t{1} << 40 | 6},
    {L::ld, offsetof(LayoutMemory, ld), 8, uint64_t{1} << 40 | 7},
    {L::batch_count, offsetof(LayoutMemory, batch_count), 4, 3},
    {L::batch_mode, offsetof(LayoutMemory, batch_mode), 4, 1},
    {L::batch_stride, offsetof(LayoutMemory, batch_stride), 8, uint64_t{1} << 40 | 8},
    {L::plane_offset, offsetof(LayoutMemory, plane_offset), 8, uint64_t{1} << 40 | 16},
};

constexpr Field<O> kOperationFields[] = {
    {O::compute_type, offsetof(OperationHead, compute), 4, 77},
    {O::scale_type, offsetof(OperationHead, scale_type), 4, 2},
    {O::pointer_mode, offsetof(OperationHead, pointer_mode), 4, 1},
    {O::transpose_a, offsetof(OperationMemory, transpose_a), 4, 1},
    {O::transpose_b, offsetof(OperationMemory, transpose_b), 4, 1},
    {O::transpose_c, offsetof(OperationMemory, transpose_c), 4, 1},
    {O::epilogue, offsetof(OperationMemory, epilogue), 4, 36},
    {O::bias_pointer, offsetof(OperationMemory, bias), 8, uint64_t{1} << 40 | 256},
    {O::sm_count, offsetof(OperationMemory, sm_count), 4, 64},
    {O::a_scale, offsetof(OperationMemory, scale_a), 8, uint64_t{1} << 40 | 512},
    {O::b_scale, offsetof(OperationMemory, scale_b), 8, uint64_t{1} << 40 | 768},
    {O::fast_sums, offsetof(OperationMemory, fast_sums), 1, 1},
    {O::bias_type, offsetof(OperationMemory, bias_type), 4, 14},
};

template <class Signature>
Signature* beside(const void* function, const char* name) {
  return reinterpret_cast<Signature*>(look_up_beside(function, name));
}

constexpr size_t kLayoutBytes = 64;
constexpr size_t kOperationBytes = 256;

// Memory for a descriptor, with `fill` where nothing is written.
template <size_t kBytes>
struct Memory {
  alignas(16) std::array<unsigned char, kBytes> bytes;

  explicit Memory(unsigned char fill) { bytes.fill(fill); }
  template <class Descriptor>
  Descriptor as() {
    return reinterpret_cast<Descriptor>(bytes.data());
  }
};

// Whether every field is where it should be, of a descriptor that is `made` new.
template <class Descriptor, size_t kBytes, class Attribute, size_t kFields>
bool fields_are_there(const Memory<kBytes>& made, const Field<Attribute> (&fields)[kFields],
                      lt::Status (*set)(Descriptor, Attribute, const void*, size_t)) {
  return std::all_of(std::begin(fields), std::end(fields), [&](const Field<Attribute>& field) {
    Memory<kBytes> expected = made;
    Memory<kBytes> changed = made;
    std::memcpy(&expected.bytes[field.offset], &field.value, field.bytes);
    return set(changed.template as<Descriptor>(), field.attribute, &field.value, field.bytes) ==
               lt::Status::success &&
           changed.bytes == expected.bytes && changed.bytes != made.bytes;
  });
}

// Where a library keeps an attribute of 4 bytes, in a descriptor that is `made` new; 0 where it
// knows no such attribute, and nothing where it is no field of its own.
std::optional<size_t> find_field(const Memory<kOperationBytes>& made, O attribute,
                                 lt::Functions::operation_set* set) {
  constexpr uint32_t kValue = 3;
  Memory<kOperationBytes> changed = made;
  if (set(changed.as<lt::Operation>(), attribute, &kValue, sizeof(kValue)) != lt::Status::success)
    return 0;
  const auto first = std::mismatch(made.bytes.begin(), made.bytes.end(), changed.bytes.begin());
  const auto at =
      static_cast<size_t>(first.first - made.bytes.begin()) / sizeof(kValue) * sizeof(kValue);
  if (at >= kOperationBytes) return std::nullopt;
  const Field<O> field[] = {{attribute, at, sizeof(kValue), kValue}};
  return fields_are_there(made, field, set) ? std::optional(at) : std::nullopt;
}

// At 0 there is none: a library that does not know modes.
lt::ScaleMode scale_mode(lt::Operation operation, size_t at) {
  auto mode = lt::ScaleMode::scalar;
  if (at != 0)
    std::memcpy(&mode, reinterpret_cast<const unsigned char*>(operation) + at, sizeof(mode));
  return mode;
}

// Those of the cuBLASLt that has `function`.
DescriptorMemory::Functions functions_beside(const void* function) {
  return {beside<F::layout_init>(function, "cublasLtMatrixLayoutInit_internal"),
          beside<F::layout_set>(function, "cublasLtMatrixLayoutSetAttribute"),
          beside<F::operation_init>(function, "cublasLtMatmulDescInit_internal"),
          beside<F::operation_set>(function, "cublasLtMatmulDescSetAttribute")};
}

uint32_t bit_if(bool holds, Oddity oddity) {
  return holds ? static_cast<uint32_t>(oddity) : 0;
}

}  // namespace

std::optional<DescriptorMemory> DescriptorMemory::try_out(const Functions& f) {
  if (f.layout_init == nullptr || f.layout_set == nullptr || f.operation_init == nullptr ||
      f.operation_set == nullptr)
    return std::nullopt;
  const auto init = [&f](auto& memory) {
    return f.operation_init(memory.template as<lt::Operation>(), sizeof(memory.bytes),
                            lt::ComputeType::f32, lt::ElementType::f32) == lt::Status::success;
  };
  Memory<kLayoutBytes> layout(0);
  // What is written into both of these alike is what a new operation has.
  Memory<kOperationBytes> made(0x55);
  Memory<kOperationBytes> other(0xAA);
  if (f.layout_init(layout.as<lt::Layout>(), sizeof(layout.bytes), lt::ElementType::f32, 1, 1, 1) !=
          lt::Status::success ||
      !fields_are_there(layout, kLayoutFields, f.layout_set) || !init(made) || !init(other) ||
      !fields_are_there(made, kOperationFields, f.operation_set))
    return std::nullopt;
  Memory<kOperationBytes> unnamed(0);
  for (size_t i = 0; i < kOperationBytes; ++i)
    unnamed.bytes[i] = made.bytes[i] == other.bytes[i] ? 0xFF : 0;
  for (const auto& field : kOperationFields)
    std::memset(&unnamed.bytes[field.offset], 0, field.bytes);
  const auto mode_of_a = find_field(made, O::a_scale_mode, f.operation_set);
  const auto mode_of_b = find_field(made, O::b_scale_mode, f.operation_set);
  if (!mode_of_a || !mode_of_b) return std::nullopt;
  DescriptorMemory memory;
  memory.mode_of_a_ = *mode_of_a;
  memory.mode_of_b_ = *mode_of_b;
  for (const size_t mode : {*mode_of_a, *mode_of_b}) {
    if (mode == 0) continue;
    std::memset(&unnamed.bytes[mode], 0, sizeof(lt::ScaleMode));
    memory.words_ = std::max(memory.words_, mode / sizeof(uint64_t) + 1);
  }
  std::memcpy(memory.unnamed_.data(), unnamed.bytes.data(), kOperationBytes);
  std::memcpy(memory.new_.data(), made.bytes.data(), kOperationBytes);
  for (size_t i = 0; i < kMostWords; ++i) {
    memory.new_[i] &= memory.unnamed_[i];
    if (memory.unnamed_[i] != 0) memory.words_ = std::max(memory.words_, i + 1);
  }
  if (memory.words_ * sizeof(uint64_t) < HashedDescriptors::kLeast) return std::nullopt;
  return memory;
}

std::optional<DescriptorMemory> DescriptorMemory::of_library(const void* function) {
  auto memory = try_out(functions_beside(function));
  if (!memory)
    log_once("cuBLASLt keeps its descriptors in an unknown way: its products are handed on");
  return memory;
}

// --- Reading -------------------------------------------------------------------------------------

bool DescriptorMemory::read(lt::Layout layout, LayoutState& state) const {
  if (layout == nullptr) return false;
  LayoutMemory memory;
  std::memcpy(&memory, layout, sizeof(memory));
  if (memory.version < 0 || memory.version > 1) return false;
  const uint64_t later =
      memory.version == 0 ? 0 : word_of(layout, sizeof(memory) / sizeof(uint64_t));
  state.rows = memory.rows;
  state.columns = memory.columns;
  state.memory = {memory.ld, memory.batch_stride, memory.type, memory.order};
  state.batch = memory.batch_count;
  state.oddities = bit_if(memory.plane_offset != 0, Oddity::planar) |
                   bit_if(memory.batch_mode != 0, Oddity::pointer_array) |
                   bit_if(later != 0, Oddity::attribute);
  return true;
}

// Whether the bits of these words that are in no field are as in a new operation.
bool DescriptorMemory::is_new(lt::Operation operation, size_t first, size_t end) const {
  uint64_t differs = 0;
  for (size_t i = first; i < end; ++i) differs |= (word_of(operation, i) ^ new_[i]) & unnamed_[i];
  return differs == 0;
}

bool DescriptorMemory::read(lt::Operation operation, OperationState& state) const {
  // The first word has the version, and so says how long it is.
  if (operation == nullptr || !is_new(operation, 0, 1)) return false;
  OperationMemory memory;
  std::memcpy(&memory, operation, sizeof(memory));
  state.compute = memory.head.compute;
  state.scale_type = memory.head.scale_type;
  state.pointer_mode = memory.head.pointer_mode;
  state.transpose_a = memory.transpose_a;
  state.transpose_b = memory.transpose_b;
  state.epilogue = memory.epilogue;
  state.bias_type = memory.bias_type;
  state.bias = memory.bias;
  state.scale_a = memory.scale_a;
  state.scale_b = memory.scale_b;
  state.mode_of_scale_a = scale_mode(operation, mode_of_a_);
  state.mode_of_scale_b = scale_mode(operation, mode_of_b_);
  state.fast_sums = memory.fast_sums != 0;
  state.oddities = bit_if(memory.transpose_c != lt::Transpose::no, Oddity::transposed_result) |
                   bit_if(memory.sm_count != 0, Oddity::sm_count) |
                   bit_if(!is_new(operation, 1, words_), Oddity::attribute);
  return true;
}

DescriptorMemory::Described DescriptorMemory::describe(const Extent& extent,
                                                       lt::Operation operation, lt::Layout a,
                                                       lt::Layout b, lt::Layout c, lt::Layout d) {
  if (extent.words == 0 || operation == nullptr || a == nullptr || b == nullptr || c == nullptr ||
      d == nullptr || word_of(operation, 0) != extent.first_word)
    return {};
  static_assert(HashedDescriptors::kLayoutBytes == sizeof(LayoutMemory) &&
                HashedDescriptors::kBias == offsetof(OperationMemory, bias) &&
                HashedDescriptors::kScales == offsetof(OperationMemory, scale_a) &&
                HashedDescriptors::kScales + 8 == offsetof(OperationMemory, scale_b));
  OperationHead head;
  std::memcpy(&head, operation, sizeof(head));
  return {hash_of({operation, extent.words * sizeof(uint64_t), a, b, c, d}), head.pointer_mode,
          head.scale_type};
}

}  // namespace gemmtune::cublas_preload
