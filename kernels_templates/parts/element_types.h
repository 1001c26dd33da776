#pragma once

// The element types a kernel is specialised on, for strategies that compute more than one: a third
// template parameter beside tile and traits. Shared by host and device; compiled by NVRTC, so
// nothing is included here.

namespace gemmtune {

enum ElementType : int { kF32 = 0, kF16 = 1, kBf16 = 2 };

struct ElementTypes {
  ElementType operand = kF32;      // of A, B and C
  ElementType accumulator = kF32;  // of the sums

  constexpr bool operator==(const ElementTypes&) const = default;
};

}  // namespace gemmtune
