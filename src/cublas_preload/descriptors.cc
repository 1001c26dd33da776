#include "cublas_preload/descriptors.h"

#include <optional>

namespace gemmtune::cublas_preload {
namespace {

constexpr auto kF64 = static_cast<lt::ElementType>(1);
constexpr int kFirstVectorPointerMode = 2;

bool is_fp8(lt::ElementType type) {
  return type == lt::ElementType::e4m3 || type == lt::ElementType::e5m2;
}

// Sizes of op(A), op(B) and D; false where they do not go together.
bool take_sizes(Product& product, const LayoutState& a, const LayoutState& b,
                const LayoutState& d) {
  const auto rows = [](const LayoutState& x, lt::Transpose op) {
    return op == lt::Transpose::no ? x.rows : x.columns;
  };
  const auto columns = [](const LayoutState& x, lt::Transpose op) {
    return op == lt::Transpose::no ? x.columns : x.rows;
  };
  product.m = static_cast<int64_t>(d.rows);
  product.n = static_cast<int64_t>(d.columns);
  product.k = static_cast<int64_t>(columns(a, product.transpose_a));
  return rows(a, product.transpose_a) == d.rows && columns(b, product.transpose_b) == d.columns &&
         columns(a, product.transpose_a) == rows(b, product.transpose_b);
}

// Of operands that both have scales.
std::optional<ProductScales> scales_of(lt::ScaleMode of_a, lt::ScaleMode of_b) {
  using Mode = lt::ScaleMode;
  struct Known {
    Mode of_a;
    Mode of_b;
    ProductScales scales;
  };
  constexpr Known kKnown[] = {{Mode::scalar, Mode::scalar, ProductScales::scalar},
                              {Mode::outer_vector, Mode::outer_vector, ProductScales::outer_vector},
                              {Mode::vec128, Mode::vec128, ProductScales::vec128},
                              {Mode::vec128, Mode::blk128x128, ProductScales::vec128_by_block},
                              {Mode::blk128x128, Mode::vec128, ProductScales::block_by_vec128}};
  for (const Known& known : kKnown) {
    if (known.of_a == of_a && known.of_b == of_b) return known.scales;
  }
  return std::nullopt;
}

// Both operands are scaled, or neither is.
void take_scales(Product& product, const OperationState& operation) {
  const auto scales = scales_of(operation.mode_of_scale_a, operation.mode_of_scale_b);
  const bool is_scaled = operation.scale_a != nullptr && operation.scale_b != nullptr;
  const bool is_plain = operation.scale_a == nullptr && operation.scale_b == nullptr;
  if (is_scaled && scales) {
    product.scales = *scales;
  } else if (!is_plain || scales != ProductScales::scalar) {
    add(product, Oddity::attribute);
  }
}

void take_operation(Product& product, const OperationState& operation) {
  product.transpose_a = operation.transpose_a;
  product.transpose_b = operation.transpose_b;
  product.compute = operation.compute;
  product.scale_type = operation.scale_type;
  product.epilogue = operation.epilogue;
  product.bias_type = operation.bias_type;
  take_scales(product, operation);
  if (operation.pointer_mode >= kFirstVectorPointerMode) add(product, Oddity::scalar_vector);
  product.oddities |= operation.oddities;
}

}  // namespace

LayoutState new_layout(lt::ElementType type, uint64_t rows, uint64_t columns, int64_t ld) {
  LayoutState layout;
  layout.rows = rows;
  layout.columns = columns;
  layout.memory.type = type;
  layout.memory.ld = ld;
  return layout;
}

OperationState new_operation(lt::ComputeType compute, lt::ElementType scale_type) {
  OperationState operation;
  operation.compute = compute;
  operation.scale_type = scale_type;
  return operation;
}

lt::ElementType scale_type_of(lt::ComputeType compute) {
  switch (static_cast<int>(compute)) {
    case 64:  // 16F
    case 65:
      return lt::ElementType::f16;
    case 70:  // 64F
    case 71:
    case 79:
      return kF64;
    case 72:  // 32I
    case 73:
      return lt::ElementType::i32;
    default:
      return lt::ElementType::f32;
  }
}

void complete(Product& product, const HandleState& handle, const CallPointers& pointers) {
  product.math_mode = handle.math_mode;
  product.workspace_bytes = handle.workspace_bytes;
  product.align_bytes = alignment_of(address_bits(pointers.a, pointers.b, pointers.d));
  product.beta =
      beta_of(pointers.beta, product.scale_type, handle.pointer_mode == lt::PointerMode::host);
  if (handle.sm_count != 0) add(product, Oddity::sm_count);
  if (product.batch == 1) product.a.stride = product.b.stride = product.d.stride = 0;
}

Product matmul_product(const MatmulStates& states, const CallPointers& pointers,
                       int64_t workspace_bytes) {
  Product product;
  product.workspace_bytes = workspace_bytes;
  if (states.operation == nullptr || states.a == nullptr || states.b == nullptr ||
      states.d == nullptr) {
    product.workspace_bytes = 0;
    add(product, Oddity::unknown_descriptor);
    return product;
  }
  const LayoutState& d = *states.d;
  take_operation(product, *states.operation);
  product.a = states.a->memory;
  product.fast_sums = states.operation->fast_sums && is_fp8(product.a.type) ? 1 : 0;
  product.b = states.b->memory;
  product.d = d.memory;
  product.batch = d.batch;
  product.oddities |= states.a->oddities | states.b->oddities | d.oddities;
  if (!take_sizes(product, *states.a, *states.b, d)) add(product, Oddity::sizes_disagree);
  if (states.a->batch != d.batch || states.b->batch != d.batch)
    add(product, Oddity::batches_disagree);
  if (product.batch == 1) product.a.stride = product.b.stride = product.d.stride = 0;
  product.align_bytes = alignment_of(address_bits(pointers.a, pointers.b, pointers.d));
  product.beta = beta_of(pointers.beta, product.scale_type, states.operation->pointer_mode == 0);
  const bool in_place = pointers.c == pointers.d && states.c != nullptr && *states.c == d;
  if (product.beta != Beta::zero && !in_place) add(product, Oddity::separate_c);
  return product;
}

}  // namespace gemmtune::cublas_preload
