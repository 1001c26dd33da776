#pragma once

#include "parts/ptx/half_access.cuh"
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

// Two aligned 16 bytes, one behind the other.
struct AlignedPair {
  HalfVector<kAlignedVector> first;
  HalfVector<kAlignedVector> second;
};

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

// The 16 bytes that begin `shift` bytes into the pair, a multiple of kAlignment.
template <int kAlignment>
__device__ __forceinline__ HalfVector<kAlignedVector> shifted(const AlignedPair& pair, int shift) {
  unsigned words[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = pair.first.words[i];
    words[4 + i] = pair.second.words[i];
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (shift & 8) != 0 ? words[i + 2] : words[i];
  if constexpr (kAlignment < 8) {
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
  }
  HalfVector<kAlignedVector> out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    constexpr int kRest = kAlignment == 1 ? 3 : 2;
    out.words[i] =
        kAlignment > 2 ? words[i] : __funnelshift_r(words[i], words[i + 1], (shift & kRest) * 8);
  }
  return out;
}

// An operand whose lines are copied: kVector elements of it are aligned.
template <int kVector, class Element>
struct CopiedOperand {
  static constexpr int kOfHalf = 2 / sizeof(Element);      // elements of 2 bytes
  static constexpr int kChunk = kAlignedVector * kOfHalf;  // of 16 bytes
  static constexpr int kUnit = kLineUnit * kOfHalf;

  const Element* data;
  long long ld;
  long long stride;
  int extent;  // of a line
  AlignedLines copy;

  // Block `block` of the copy: kCopyPiece elements of kCopyLines lines, which begin at the same
  // element of each. All of a thread's reads are on their way before it waits for the first.
  __device__ __forceinline__ void copy_block(unsigned block, unsigned short* to) const {
    const auto pieces = static_cast<unsigned>(copy.pieces_of_line());
    const unsigned group = block / pieces;
    const int element = static_cast<int>(block - group * pieces) * (kCopyPiece * kOfHalf) +
                        static_cast<int>(threadIdx.x % kCopyLanes) * kChunk;
    const long long line = group * static_cast<long long>(kCopyLines) + threadIdx.x / kCopyLanes;
    if (line >= copy.entries * copy.lines) return;
    const Element* const from = start_of(line) + element;
    unsigned short* const at = to + line * copy.ld + element / kOfHalf;
    constexpr int kLast = (kCopyChunks - 1) * kUnit;
    if (element + kLast + kChunk <= extent && has_around(from) && has_around(from + kLast)) {
      copy_whole(from, at);
    } else {
      copy_end(from, extent - element, at, static_cast<int>(copy.ld) - element / kOfHalf);
    }
  }

 private:
  static constexpr int kBits = 8 * sizeof(Element);
  static constexpr int kOfWord = 32 / kBits;
  static constexpr int kAlignment = kVector * sizeof(Element);

  // Of line `line` of all entries.
  __device__ __forceinline__ const Element* start_of(long long line) const {
    const auto lines = static_cast<unsigned>(copy.lines);
    const unsigned entry = copy.entries == 1 ? 0 : static_cast<unsigned>(line) / lines;
    return data + entry * stride + (line - entry * copy.lines) * ld;
  }

  // A thread's chunks of a piece that the line has all of.
  static __device__ __forceinline__ void copy_whole(const Element* from, unsigned short* to) {
    AlignedPair pairs[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) pairs[i] = pair_around(from + i * kUnit);
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i)
      store_halves(to + i * kLineUnit, shifted<kAlignment>(pairs[i], shift_of(from)));
  }

  // Those of a piece where `count` elements of the line are left, and `room` of its copy.
  __device__ __forceinline__ void copy_end(const Element* from, int count, unsigned short* to,
                                           int room) const {
    AlignedPair pairs[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      pairs[i] = {};
      if (i * kUnit < count && has_around(from + i * kUnit))
        pairs[i] = pair_around(from + i * kUnit);
    }
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      if (i * kLineUnit < room)
        store_halves(to + i * kLineUnit, chunk_of(pairs[i], from + i * kUnit, count - i * kUnit));
    }
  }

  // Whether the aligned 16 bytes around the chunk at `from` lie in the operand, which others'
  // memory may surround.
  __device__ __forceinline__ bool has_around(const Element* from) const {
    const Element* const end = data + (copy.entries - 1) * stride + (copy.lines - 1) * ld + extent;
    return from - data >= kChunk && end - from >= 2 * kChunk;
  }

  // The chunk at `from`, where `count` elements of the line are left: of the pair around it, if
  // that was read.
  __device__ __forceinline__ HalfVector<kAlignedVector> chunk_of(const AlignedPair& pair,
                                                                 const Element* from,
                                                                 int count) const {
    if (count > 0 && !has_around(from)) return load_each(from, count);
    const HalfVector<kAlignedVector> chunk = shifted<kAlignment>(pair, shift_of(from));
    return count < kChunk ? first_of(chunk, count) : chunk;
  }

  static __device__ __forceinline__ int shift_of(const Element* from) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(from) % 16);
  }

  static __device__ __forceinline__ AlignedPair pair_around(const Element* from) {
    const auto address = reinterpret_cast<unsigned long long>(from);
    const auto* const at = reinterpret_cast<const unsigned short*>(address - address % 16);
    return {load_halves<kAlignedVector>(at), load_halves<kAlignedVector>(at + kAlignedVector)};
  }

  // Zeros behind the first `count`.
  static __device__ __forceinline__ HalfVector<kAlignedVector> first_of(
      HalfVector<kAlignedVector> out, int count) {
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

  // Few threads come here, and all would wait for the text of an unrolled loop.
  static __device__ __forceinline__ HalfVector<kAlignedVector> load_each(const Element* from,
                                                                         int count) {
    HalfVector<kAlignedVector> out = {};
#pragma unroll 1
    for (int i = kChunk - 1; i >= 0; --i) {
#pragma unroll
      for (int w = 3; w > 0; --w)
        out.words[w] = out.words[w] << kBits | out.words[w - 1] >> (32 - kBits);
      out.words[0] = out.words[0] << kBits | (i < count ? from[i] : 0u);
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

  // Makes them: blocks of A, and behind them those of B.
  static __device__ __forceinline__ void copy(const GemmArgs& args) {
    auto* workspace = static_cast<unsigned short*>(args.workspace);
    unsigned block = blockIdx.x;
    if constexpr (kCopiesA) {
      const CopiedA a{static_cast<const Element*>(args.a), args.lda, args.stride_a,
                      kTraits.a_row_major ? args.k : args.m, copy_of_a(args)};
      const auto blocks = static_cast<unsigned>(a.copy.copy_blocks());
      if (block < blocks) {
        a.copy_block(block, workspace);
        return;
      }
      block -= blocks;
      workspace += a.copy.elements();
    }
    if constexpr (kCopiesB) {
      const CopiedB b{static_cast<const Element*>(args.b), args.ldb, args.stride_b,
                      kTraits.b_row_major ? args.n : args.k, copy_of_b(args)};
      b.copy_block(block, workspace);
    }
  }

 private:
  // Elements of 16 bits that hold `k` of these; 8-bit operands lie along k.
  static __device__ __forceinline__ int halves_of(int k) {
    return (k + CopiedA::kOfHalf - 1) / CopiedA::kOfHalf;
  }
};

}  // namespace gemmtune
