#pragma once

#include "parts/shared/host_device.h"
#include "parts/shared/kernel_traits.h"

// The copies of f32 operands with k contiguous, as they lie in the workspace (k_major_copy.cuh).

namespace gemmtune {

inline constexpr int kKMajorDepth = 32;     // elements: lines begin at multiples of 128 bytes
inline constexpr int kKMajorRows = 128;     // lines that a block copies kKMajorDepth elements of
inline constexpr int kKMajorThreads = 256;  // a block of the copying kernel
inline constexpr int kKMajorVector = 4;     // elements of 16 bytes

// An operand's lines along k, one for each row of A or column of B.
struct KMajorLines {
  long long lines;
  long long ld;       // elements
  long long entries;  // of the batch: one where all products share it

  template <class Extent>  // int in kernels
  GEMMTUNE_HOST_DEVICE constexpr KMajorLines(Extent mn, Extent k, long long stride, Extent batch)
      : lines(mn),
        ld(static_cast<long long>(k + kKMajorDepth - 1) / kKMajorDepth * kKMajorDepth),
        entries(stride == 0 ? 1 : batch) {}

  GEMMTUNE_HOST_DEVICE constexpr long long stride() const { return entries == 1 ? 0 : lines * ld; }
  GEMMTUNE_HOST_DEVICE constexpr long long elements() const { return entries * lines * ld; }

  // What blocks copy, one each: tiles along k of an entry's lines, then of its next lines.
  GEMMTUNE_HOST_DEVICE constexpr long long tiles_along_k() const { return ld / kKMajorDepth; }
  GEMMTUNE_HOST_DEVICE constexpr long long tiles_of_entry() const {
    return (lines + kKMajorRows - 1) / kKMajorRows * tiles_along_k();
  }
  GEMMTUNE_HOST_DEVICE constexpr long long tiles() const { return entries * tiles_of_entry(); }
};

// Whether TMA cannot copy the operand as wgmma reads it.
GEMMTUNE_HOST_DEVICE constexpr bool needs_k_major(bool contiguous_k, int vector) {
  return !contiguous_k || vector < kKMajorVector;
}
GEMMTUNE_HOST_DEVICE constexpr bool needs_k_major_a(const KernelTraits& traits) {
  return needs_k_major(traits.a_row_major, traits.vector_a);
}
GEMMTUNE_HOST_DEVICE constexpr bool needs_k_major_b(const KernelTraits& traits) {
  return needs_k_major(!traits.b_row_major, traits.vector_b);
}

}  // namespace gemmtune
