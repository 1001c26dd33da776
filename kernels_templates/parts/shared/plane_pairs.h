#pragma once

#include "parts/shared/element_types.h"
#include "parts/shared/host_device.h"

// f32 operands as sums of planes, x = plane 0 + plane 1 (+ plane 2), and the products of planes
// that a product of two operands is made of. Each plane is 2^-8 of the one before it or less, of
// tf32 2^-11; those products are summed first that are smallest.

namespace gemmtune {

template <Products kProducts>
struct PlanePairs {
  static constexpr int kPlanes = 1;  // an operand as it is
  static constexpr int kCount = 1;
  static constexpr int kStagePlanes = 1;  // of an operand, that a stage of shared memory holds

  static GEMMTUNE_HOST_DEVICE constexpr int a(int) { return 0; }
  static GEMMTUNE_HOST_DEVICE constexpr int b(int) { return 0; }
};

// Planes of A and B by the number of the pair, four bits each.
template <int kNumber, unsigned long long kOfA, unsigned long long kOfB>
struct ListedPairs {
  static constexpr int kPlanes = 3;
  static constexpr int kCount = kNumber;
  static constexpr int kStagePlanes = 1;

  static GEMMTUNE_HOST_DEVICE constexpr int a(int pair) {
    return static_cast<int>(kOfA >> (4 * pair) & 15);
  }
  static GEMMTUNE_HOST_DEVICE constexpr int b(int pair) {
    return static_cast<int>(kOfB >> (4 * pair) & 15);
  }
};

// (2, 0) (1, 1) (0, 2)  (1, 0) (0, 1)  (0, 0): the others are 2^-24 of the last or less.
template <>
struct PlanePairs<kBf16x6> : ListedPairs<6, 0x001012, 0x010210> {};

// (2, 2)  (2, 1) (1, 2)  and those of bf16x6.
template <>
struct PlanePairs<kBf16x9> : ListedPairs<9, 0x001012122, 0x010210212> {};

// (1, 0) (0, 1)  (0, 0): the other one is 2^-22 of the last or less.
template <>
struct PlanePairs<k3xTf32> : ListedPairs<3, 0x001, 0x010> {
  static constexpr int kPlanes = 2;
  static constexpr int kStagePlanes = 2;  // both are loaded once for the three products
};

}  // namespace gemmtune
