#include "launch/arguments.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace gemmtune::launch {
namespace {

// `elements` behind `from`.
template <class Pointer>
Pointer behind(Pointer from, int64_t elements, DataType type) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const std::byte,
                                  std::byte>;
  return static_cast<Byte*>(from) + elements * size_bytes(type);
}

// Of some rows of C.
void take_rows(const Problem& p, int64_t first, int64_t rows, GemmArgs& args) {
  args.m = static_cast<int>(rows);
  args.a = behind(args.a, first * (p.layout.a == Order::row_major ? p.lda : 1), p.type);
  args.c = behind(args.c, first * p.ldc, result_type(p));
  if (p.epilogue.bias == kBiasPerRow) args.bias = behind(args.bias, first, result_type(p));
  if (p.epilogue.scale == kScalePerRow) args.scale_a += first;
}

GemmArgs gemm_args(const Problem& p, const codegen::GemmArgument& of_launch,
                   const Operands& operands) {
  GemmArgs args;
  args.a = operands.a;
  args.b = operands.b;
  args.c = operands.c;
  args.workspace = operands.workspace;
  args.m = static_cast<int>(p.shape.m);
  args.n = static_cast<int>(p.shape.n);
  args.k = static_cast<int>(p.shape.k);
  args.batch = static_cast<int>(p.batch);
  args.lda = p.lda;
  args.ldb = p.ldb;
  args.ldc = p.ldc;
  args.stride_a = p.stride_a;
  args.stride_b = p.stride_b;
  args.stride_c = p.stride_c;
  args.alpha = operands.alpha;
  args.beta = operands.beta;
  args.bias = operands.bias;
  args.scale_a = operands.scale_a;
  args.scale_b = operands.scale_b;
  args.raster = of_launch.raster;
  if (of_launch.rows > 0) take_rows(p, of_launch.first_row, of_launch.rows, args);
  return args;
}

template <class Value>
void add_value(const Value& value, ParameterBlock& block) {
  block.add(std::as_bytes(std::span(&value, 1)), alignof(Value));
}

const void* address_of(codegen::Buffer buffer, int64_t offset_bytes, const Operands& operands) {
  const void* base = operands.workspace;
  switch (buffer) {
    case codegen::Buffer::a:
      base = operands.a;
      break;
    case codegen::Buffer::b:
      base = operands.b;
      break;
    case codegen::Buffer::c:
      base = operands.c;
      break;
    case codegen::Buffer::workspace:
      break;
  }
  return static_cast<const std::byte*>(base) + offset_bytes;
}

}  // namespace

void ParameterBlock::add(std::span<const std::byte> value, size_t alignment) {
  const size_t offset = (size_ + alignment - 1) / alignment * alignment;
  if (count_ == kMostParameters || offset + value.size() > kMostBytes)
    throw std::logic_error("a kernel takes more parameters than launches have room for");
  std::memset(bytes_.data() + size_, 0, offset - size_);
  std::memcpy(bytes_.data() + offset, value.data(), value.size());
  places_[count_] = {offset, value.size()};
  addresses_[count_++] = bytes_.data() + offset;
  size_ = offset + value.size();
}

std::span<const std::byte> ParameterBlock::parameter(size_t index) const {
  return bytes().subspan(places_[index].offset, places_[index].size);
}

gpu::Result<void> pack_arguments(std::span<const codegen::KernelArgument> arguments,
                                 const Problem& problem, bool device_scalars,
                                 const Operands& operands, const TensorMapEncoder& encode,
                                 ParameterBlock& block) {
  block.clear();
  for (const codegen::KernelArgument& argument : arguments) {
    if (const auto* address = std::get_if<codegen::AddressArgument>(&argument)) {
      add_value(address_of(address->buffer, address->offset_bytes, operands), block);
    } else if (const auto* map = std::get_if<codegen::TensorMapArgument>(&argument)) {
      auto encoded = encode(map->config, address_of(map->buffer, map->offset_bytes, operands));
      if (!encoded) return tl::unexpected(encoded.error());
      add_value(*encoded, block);
    } else {
      const GemmArgs gemm = gemm_args(problem, std::get<codegen::GemmArgument>(argument), operands);
      if (device_scalars) {
        add_value(DeviceScalarArgs{gemm, operands.alpha_device, operands.beta_device}, block);
      } else {
        add_value(gemm, block);
      }
    }
  }
  return {};
}

}  // namespace gemmtune::launch
