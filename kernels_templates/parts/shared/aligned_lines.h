#pragma once

#include "parts/shared/host_device.h"

// The copies of 16-bit operands that 16 bytes do not divide, as they lie in the workspace
// (aligned_copy.cuh).

namespace gemmtune {

inline constexpr int kLineUnit = 64;      // elements: lines begin at multiples of 128 bytes
inline constexpr int kAlignedVector = 8;  // elements of 16 bytes

// The copying kernel: blocks of kCopyThreads, of which kCopyLanes share a piece of a line and copy
// kCopyChunks chunks of 16 bytes of it each.
inline constexpr int kCopyThreads = 256;
inline constexpr int kCopyLanes = 16;
inline constexpr int kCopyChunks = 2;
inline constexpr int kCopyPiece = kCopyLanes * kCopyChunks * kAlignedVector;  // elements
inline constexpr int kCopyPiecesOfBlock = kCopyThreads / kCopyLanes;

// An operand's lines, along k or along m or n.
struct AlignedLines {
  long long lines;
  long long ld;       // elements
  long long entries;  // of the batch: one where all products share it

  template <class Extent>  // int in kernels
  GEMMTUNE_HOST_DEVICE constexpr AlignedLines(bool contiguous_k, Extent mn, Extent k,
                                              long long stride, Extent batch)
      : lines(contiguous_k ? mn : k),
        ld(static_cast<long long>((contiguous_k ? k : mn) + kLineUnit - 1) / kLineUnit * kLineUnit),
        entries(stride == 0 ? 1 : batch) {}

  GEMMTUNE_HOST_DEVICE constexpr long long stride() const { return entries == 1 ? 0 : lines * ld; }
  GEMMTUNE_HOST_DEVICE constexpr long long elements() const { return entries * lines * ld; }
  // What lines are copied in; kernels count them in 32 bits.
  GEMMTUNE_HOST_DEVICE constexpr long long pieces_of_line() const {
    return (ld + kCopyPiece - 1) / kCopyPiece;
  }
  GEMMTUNE_HOST_DEVICE constexpr long long pieces() const {
    return entries * lines * pieces_of_line();
  }
};

}  // namespace gemmtune
