#pragma once

#include "parts/shared/host_device.h"

// The element types a kernel is specialised on, for strategies that compute more than one: a third
// template parameter beside tile and traits.

namespace gemmtune {

enum ElementType : int { kF32 = 0, kF16 = 1, kBf16 = 2, kE4m3 = 3, kE5m2 = 4, kI8 = 5, kI32 = 6 };

// How products are formed.
enum Products : int {
  kExact = 0,   // of the operands as they are; the only way for 16-bit operands
  kTf32 = 1,    // of the operands rounded to tf32 (10 bits of fraction)
  k3xTf32 = 2,  // of both as sums of two tf32 values, without the product of the small ones
  kHalf = 3,    // of the operands rounded to f16
  kBf16x6 = 4,  // of both as sums of three bf16 values, without the three smallest products
  kBf16x9 = 5,  // ... with all nine
  kFast = 6,    // of 8-bit operands as they are, summed in the tensor cores alone
};

struct ElementTypes {
  ElementType operand = kF32;      // of A and B
  ElementType accumulator = kF32;  // of the sums
  ElementType result = kF32;       // of C and the bias
  Products products = kExact;

  constexpr bool operator==(const ElementTypes&) const = default;
};

// Of sums and results that are the bits of an f32 in registers and memory (integer_bits.cuh).
GEMMTUNE_HOST_DEVICE constexpr bool has_32_bits(ElementType type) {
  return type == kF32 || type == kI32;
}

// Whether sums of parts of k are added up outside of the tensor cores, which keep few bits of sums
// of 8-bit products.
GEMMTUNE_HOST_DEVICE constexpr bool promotes_sums(const ElementTypes& types) {
  const bool is_fp8 = types.operand == kE4m3 || types.operand == kE5m2;
  return is_fp8 && types.products == kExact;
}

}  // namespace gemmtune
