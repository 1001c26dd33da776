#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vendor/cublas_api.h"

namespace gemmtune::cublas_preload {

namespace lt = vendor::lt;

// What beta is: C is not read where it is zero.
enum class Beta : int32_t { zero = 0, other = 1, on_device = 2 };

// What the values of A and B are multiplied by.
enum class ProductScales : int32_t {
  none = 0,
  scalar = 1,        // a factor each
  outer_vector = 2,  // a factor of each row of op(A) and each column of op(B)
  // For each 128 of k:
  vec128 = 3,           // as outer_vector
  vec128_by_block = 4,  // of each row of op(A), and of 128 columns of op(B) each
  block_by_vec128 = 5,  // of 128 rows of op(A) each, and of each column of op(B)
};

// Why a product is more than A, B, C and what Product says of them; bits of Product::oddities.
enum class Oddity : uint32_t {
  pointer_array = 1,         // a batch by arrays of pointers
  grouped = 2,               // products of several sizes in one call
  unknown_descriptor = 4,    // one that cannot be read
  scalar_vector = 8,         // alpha or beta is a vector
  separate_c = 16,           // C is read, and is another matrix than D
  sizes_disagree = 32,       // of the matrices
  batches_disagree = 64,     // of the matrices
  planar = 128,              // real and imaginary parts apart
  sm_count = 256,            // asks for a part of the GPU
  attribute = 512,           // an attribute that Product has no field for: amax, aux ...
  transposed_result = 1024,  // op(C)
  vector_apart = 2048,       // elements of y do not lie side by side, or those of x run backwards
};

// A matrix in memory.
struct Operand {
  int64_t ld = 0;      // elements
  int64_t stride = 0;  // from one product of the batch to the next, elements
  lt::ElementType type = lt::ElementType::f32;
  lt::Order order = lt::Order::column_major;

  bool operator==(const Operand&) const = default;
};

// D = epilogue(alpha * op(A) * op(B) + beta * D) as a program asked cuBLAS or cuBLASLt for it, in
// their terms. Calls with equal products are calls of one problem.
struct Product {
  int64_t m = 0;  // rows of op(A) and D
  int64_t n = 0;  // columns of op(B) and D
  int64_t k = 0;
  int64_t batch = 1;
  Operand a;
  Operand b;
  Operand d;
  int64_t workspace_bytes = kOwnWorkspace;
  lt::Transpose transpose_a = lt::Transpose::no;
  lt::Transpose transpose_b = lt::Transpose::no;
  lt::ComputeType compute = lt::ComputeType::f32;
  lt::ElementType scale_type = lt::ElementType::f32;  // of alpha and beta
  int32_t math_mode = 0;                              // of the handle
  lt::Epilogue epilogue = lt::Epilogue::none;
  int32_t bias_type = kTypeOfResult;  // an lt::ElementType
  int32_t align_bytes = 0;            // of A, B and D: 256, 16, 8, 4, 2 or 1
  Beta beta = Beta::zero;
  ProductScales scales = ProductScales::none;
  int32_t fast_sums = 0;  // 1: of 8-bit operands, in the tensor cores alone
  uint32_t oddities = 0;

  static constexpr int64_t kOwnWorkspace = -1;  // that of the cuBLAS handle
  static constexpr int32_t kTypeOfResult = -1;

  bool operator==(const Product&) const = default;
};
// It is compared, hashed and stored byte by byte.
static_assert(std::is_trivially_copyable_v<Product>);
static_assert(std::has_unique_object_representations_v<Product>);

inline void add(Product& product, Oddity oddity) {
  product.oddities |= static_cast<uint32_t>(oddity);
}
inline bool has(const Product& product, Oddity oddity) {
  return (product.oddities & static_cast<uint32_t>(oddity)) != 0;
}

// The largest of 256, 16, 8, 4, 2 and 1 that all addresses are multiples of whose bits these are:
// the alignment classes of core/problem.h.
inline int32_t alignment_of(uintptr_t bits) {
  if (bits % 256 == 0) return 256;
  return static_cast<int32_t>((bits | 16) & -(bits | 16));  // the lowest bit
}
inline uintptr_t address_bits(const void* a, const void* b, const void* d) {
  return reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
         reinterpret_cast<uintptr_t>(d);
}

// What a beta in host memory is; null counts as zero.
inline Beta beta_at(const void* beta, lt::ElementType type) {
  if (beta == nullptr) return Beta::zero;
  constexpr auto kF64 = static_cast<lt::ElementType>(1);
  if (type == lt::ElementType::f16) {
    uint16_t bits = 0;
    std::memcpy(&bits, beta, sizeof(bits));
    return (bits & 0x7FFF) == 0 ? Beta::zero : Beta::other;
  }
  if (type == kF64) {
    double value = 0;
    std::memcpy(&value, beta, sizeof(value));
    return value == 0 ? Beta::zero : Beta::other;
  }
  uint32_t bits = 0;  // f32, i32, and the real part of a complex number
  std::memcpy(&bits, beta, sizeof(bits));
  return (bits & 0x7FFFFFFF) == 0 ? Beta::zero : Beta::other;
}

// What a beta is that may be in device memory, where it is not looked at.
inline Beta beta_of(const void* beta, lt::ElementType type, bool on_host) {
  return on_host ? beta_at(beta, type) : Beta::on_device;
}

}  // namespace gemmtune::cublas_preload
