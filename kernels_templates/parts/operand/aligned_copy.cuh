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

// The 16 bytes at `from`, of which only kAlignment bytes are aligned, out of the two aligned 16
// bytes that hold them.
template <int kAlignment>
__device__ __forceinline__ HalfVector<kAlignedVector> load_across(const void* from) {
  const auto address = reinterpret_cast<unsigned long long>(from);
  const int shift = static_cast<int>(address % 16);  // bytes
  const auto* at = reinterpret_cast<const unsigned short*>(address - shift);
  const auto first = load_halves<kAlignedVector>(at);
  if (shift == 0) return first;
  const auto second = load_halves<kAlignedVector>(at + kAlignedVector);
  return across<kAlignment>(first, second, shift);
}

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

  // Chunk `chunk` of the copy, in 16 bytes.
  __device__ __forceinline__ HalfVector<kAlignedVector> load(unsigned chunk) const {
    const auto line_chunks = static_cast<unsigned>(copy.ld / kAlignedVector);
    const unsigned line = chunk / line_chunks;  // over all entries
    const int element = static_cast<int>(chunk - line * line_chunks) * kChunk;
    const int count = extent - element;
    if (count <= 0) return {};
    const auto lines = static_cast<unsigned>(copy.lines);
    const unsigned entry = line / lines;
    const Element* const from = data + entry * stride + (line - entry * lines) * ld + element;
    // Both aligned 16 bytes lie in the operand, which others' memory may surround.
    const bool inside = from - data >= kChunk && end() - from >= 2 * kChunk;
    return inside ? first_of(load_across<kAlignment>(from), count) : load_singly(from, count);
  }

 private:
  static constexpr int kBits = 8 * sizeof(Element);
  static constexpr int kOfWord = 32 / kBits;
  static constexpr int kAlignment = kVector * sizeof(Element);

  __device__ __forceinline__ const Element* end() const {
    return data + (copy.entries - 1) * stride + (copy.lines - 1) * ld + extent;
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
  // Makes them, kCopyChunks chunks of 16 bytes per thread.
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    auto* workspace = static_cast<unsigned short*>(args.workspace);
    unsigned chunk = blockIdx.x * (kCopyThreads * kCopyChunks) + threadIdx.x;
    if constexpr (kCopiesA) {
      const CopiedA a{static_cast<const Element*>(args.a), args.lda, args.stride_a,
                      kTraits.a_row_major ? args.k : args.m, copy_of_a(args)};
      copy_part(a, workspace, chunk);
      // Wraps around for chunks of A, and back.
      chunk -= static_cast<unsigned>(a.copy.elements() / kAlignedVector);
      workspace += a.copy.elements();
    }
    if constexpr (kCopiesB) {
      const CopiedB b{static_cast<const Element*>(args.b), args.ldb, args.stride_b,
                      kTraits.b_row_major ? args.n : args.k, copy_of_b(args)};
      copy_part(b, workspace, chunk);
    }
  }

 private:
  // Elements of 16 bits that hold `k` of these; 8-bit operands lie along k.
  static __device__ __forceinline__ int halves_of(int k) {
    return (k + CopiedA::kOfHalf - 1) / CopiedA::kOfHalf;
  }

  // Those of the thread's chunks, from `first` on, that the copy of this operand has.
  template <class Operand>
  static __device__ __forceinline__ void copy_part(const Operand& operand, unsigned short* to,
                                                   unsigned first) {
    const auto chunks = static_cast<unsigned>(operand.copy.elements() / kAlignedVector);
    HalfVector<kAlignedVector> parts[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      const unsigned chunk = first + i * kCopyThreads;
      if (chunk < chunks) parts[i] = operand.load(chunk);
    }
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      const unsigned chunk = first + i * kCopyThreads;
      if (chunk < chunks)
        store_halves(to + static_cast<unsigned long long>(chunk) * kAlignedVector, parts[i]);
    }
  }
};

}  // namespace gemmtune
