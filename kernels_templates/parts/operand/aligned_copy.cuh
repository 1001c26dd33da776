#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/ptx/unaligned_vector.cuh"
#include "parts/shared/aligned_lines.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"

// Copies of the operands that 16 bytes do not divide, in the workspace, so that they can be read 16
// bytes at a time:
//
//     workspace: | A's batch entries | B's batch entries |      each where it is copied at all
//     entry:     lines of kLineUnit * ceil(extent / kLineUnit) elements; what the operand does not
//                have is zero, so that a product with it adds nothing
//
// Copies are counted in elements of 16 bits; two of 8 bits are one of those.
// A batch stride of 0 is one entry that all products share.

namespace gemmtune {

// How elements of a type are copied: as unsigned integers of their size.
template <ElementType kType>
struct CopiedElement {
  using Type = unsigned short;
};
template <>
struct CopiedElement<kE4m3> {
  using Type = unsigned char;
};
template <>
struct CopiedElement<kE5m2> {
  using Type = unsigned char;
};
template <>
struct CopiedElement<kI8> {
  using Type = unsigned char;
};

// An operand whose lines are copied: kVector elements of it are aligned.
template <int kVector, class Element>
struct CopiedOperand {
  static constexpr int kOfHalf = 2 / sizeof(Element);      // elements of 2 bytes
  static constexpr int kChunk = kAlignedVector * kOfHalf;  // of 16 bytes

  const Element* data;
  long long ld;
  long long stride;
  int extent;  // of a line
  AlignedLines copy;

  // By kCopyLanes threads, of which this is number `lane`: copies a piece of a line. All of a
  // thread's chunks are on their way before it waits for the first.
  __device__ __forceinline__ void copy_piece(unsigned short* to, unsigned piece, int lane) const {
    const auto pieces = static_cast<unsigned>(copy.pieces_of_line());
    const unsigned line = piece / pieces;  // over all entries
    const auto lines = static_cast<unsigned>(copy.lines);
    const unsigned entry = line / lines;
    const long long begin = entry * stride + (line - entry * lines) * ld;
    const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(data + begin) % 16);
    const int first = static_cast<int>(piece - line * pieces) * (kCopyLanes * kCopyChunks) + lane;
    HalfVector<kAlignedVector> low[kCopyChunks];
    HalfVector<kAlignedVector> high[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      const int element = (first + i * kCopyLanes) * kChunk;
      if (!lies_inside(begin, element)) continue;
      const auto* at = reinterpret_cast<const unsigned char*>(data + begin + element) - shift;
      low[i] = load_halves<kAlignedVector>(reinterpret_cast<const unsigned short*>(at));
      high[i] = load_halves<kAlignedVector>(reinterpret_cast<const unsigned short*>(at + 16));
    }
    unsigned short* const copied = to + line * copy.ld;
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      const int chunk = first + i * kCopyLanes;
      if (chunk * kAlignedVector >= copy.ld) continue;
      const int element = chunk * kChunk;
      const auto elements =
          lies_inside(begin, element)
              ? first_of(across<kAlignment>(low[i], high[i], shift), extent - element)
              : load_singly(data + begin + element, extent - element);
      store_halves(copied + chunk * kAlignedVector, elements);
    }
  }

 private:
  static constexpr int kBits = 8 * sizeof(Element);
  static constexpr int kOfWord = 32 / kBits;
  static constexpr int kAlignment = kVector * sizeof(Element);

  // Whether element `element` of the line that begins at `begin` is one of the operand's, and so
  // are both aligned 16 bytes that hold it and those behind it, which others' memory may surround.
  __device__ __forceinline__ bool lies_inside(long long begin, int element) const {
    const long long from = begin + element;
    const long long end = (copy.entries - 1) * stride + (copy.lines - 1) * ld + extent;
    return element < extent && from >= kChunk && end - from >= 2 * kChunk;
  }

  // Zeros behind the first `count`.
  static __device__ __forceinline__ HalfVector<kAlignedVector> first_of(
      HalfVector<kAlignedVector> out, int count) {
    if (count >= kChunk) return out;
#pragma unroll
    for (int i = 0; i < kChunk; i += kOfWord) {
      if (i >= count) out.words[i / kOfWord] = 0;
#pragma unroll
      for (int j = 1; j < kOfWord; ++j) {
        if (i + j == count) out.words[i / kOfWord] &= (1U << kBits * j) - 1;
      }
    }
    return out;
  }
};

// What the main kernel and the copying one do with a problem: which operands are copied, and where
// they are found afterwards.
template <KernelTraits kTraits, class Element = unsigned short>
struct AlignedOperands {
  using CopiedA = CopiedOperand<kTraits.vector_a, Element>;
  using CopiedB = CopiedOperand<kTraits.vector_b, Element>;
  static constexpr int kChunk = CopiedA::kChunk;
  static constexpr bool kCopiesA = kTraits.vector_a < kChunk;
  static constexpr bool kCopiesB = kTraits.vector_b < kChunk;
  static_assert(kCopiesA || kCopiesB, "an operand needs the copy");
  // Those of the problem that the main kernel sees.
  static constexpr KernelTraits kAligned = {
      kTraits.a_row_major, kTraits.b_row_major, kChunk, kChunk, kTraits.vector_c, kTraits.epilogue};

  static __device__ __forceinline__ AlignedLines copy_of_a(const GemmArgs& args) {
    return AlignedLines(kTraits.a_row_major, args.m, halves_of(args.k), args.stride_a, args.batch);
  }
  static __device__ __forceinline__ AlignedLines copy_of_b(const GemmArgs& args) {
    return AlignedLines(!kTraits.b_row_major, args.n, halves_of(args.k), args.stride_b, args.batch);
  }

  // The problem on the copies.
  static __device__ __forceinline__ GemmArgs aligned(const GemmArgs& args) {
    GemmArgs out = args;
    auto* workspace = static_cast<unsigned short*>(args.workspace);
    if constexpr (kCopiesA) {
      const AlignedLines a = copy_of_a(args);
      out.a = workspace;
      out.lda = a.ld;
      out.stride_a = a.stride();
      workspace += a.elements();
    }
    if constexpr (kCopiesB) {
      const AlignedLines b = copy_of_b(args);
      out.b = workspace;
      out.ldb = b.ld;
      out.stride_b = b.stride();
    }
    return out;
  }

  static constexpr int kThreads = kCopyThreads;
  // Makes them, kCopyPiecesOfBlock pieces per block.
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    auto* workspace = static_cast<unsigned short*>(args.workspace);
    const int lane = static_cast<int>(threadIdx.x) % kCopyLanes;
    unsigned piece = blockIdx.x * kCopyPiecesOfBlock + threadIdx.x / kCopyLanes;
    if constexpr (kCopiesA) {
      const CopiedA a{static_cast<const Element*>(args.a), args.lda, args.stride_a,
                      kTraits.a_row_major ? args.k : args.m, copy_of_a(args)};
      const auto pieces = static_cast<unsigned>(a.copy.pieces());
      if (piece < pieces) return a.copy_piece(workspace, piece, lane);
      piece -= pieces;
      workspace += a.copy.elements();
    }
    if constexpr (kCopiesB) {
      const CopiedB b{static_cast<const Element*>(args.b), args.ldb, args.stride_b,
                      kTraits.b_row_major ? args.n : args.k, copy_of_b(args)};
      if (piece < static_cast<unsigned>(b.copy.pieces())) b.copy_piece(workspace, piece, lane);
    }
  }

 private:
  // Elements of 16 bits that hold `k` of these; 8-bit operands lie along k.
  static __device__ __forceinline__ int halves_of(int k) {
    return (k + CopiedA::kOfHalf - 1) / CopiedA::kOfHalf;
  }
};

}  // namespace gemmtune
