#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/shared/aligned_lines.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"

// Copies of the operands that 16 bytes do not divide, in the workspace, so that they can be read 16
// bytes at a time:
//
//     workspace: | A's batch entries | B's batch entries |      each where it is copied at all
//     entry:     lines of kLineUnit * ceil(extent / kLineUnit) elements; what the operand does not
//                have is zero, so that a product with it adds nothing
//
// A batch stride of 0 is one entry that all products share.

namespace gemmtune {

// Two aligned 16 bytes, one behind the other.
struct AlignedPair {
  HalfVector<kAlignedVector> first;
  HalfVector<kAlignedVector> second;
};

// The 16 bytes that begin `shift` bytes into the pair; kVector elements of them are aligned.
template <int kVector>
__device__ __forceinline__ HalfVector<kAlignedVector> shifted(const AlignedPair& pair, int shift) {
  unsigned words[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = pair.first.words[i];
    words[4 + i] = pair.second.words[i];
  }
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (shift & 8) != 0 ? words[i + 2] : words[i];
  if constexpr (kVector < 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
  }
  HalfVector<kAlignedVector> out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.words[i] =
        kVector > 1 ? words[i] : __funnelshift_r(words[i], words[i + 1], (shift & 2) * 8);
  }
  return out;
}

// An operand whose lines are copied: kVector elements of it are aligned.
template <int kVector>
struct CopiedOperand {
  const unsigned short* data;
  long long ld;
  long long stride;
  int extent;  // of a line
  AlignedLines copy;

  // Block `block` of the copy: kCopyPiece elements of kCopyLines lines, which begin at the same
  // element of each. All of a thread's reads are on their way before it waits for the first.
  __device__ __forceinline__ void copy_block(unsigned block, unsigned short* to) const {
    const auto pieces = static_cast<unsigned>(copy.pieces_of_line());
    const unsigned group = block / pieces;
    const int element = static_cast<int>(block - group * pieces) * kCopyPiece +
                        static_cast<int>(threadIdx.x % kCopyLanes) * kAlignedVector;
    const long long line = group * static_cast<long long>(kCopyLines) + threadIdx.x / kCopyLanes;
    if (line >= copy.entries * copy.lines) return;
    const unsigned short* const from = start_of(line) + element;
    unsigned short* const at = to + line * copy.ld + element;
    constexpr int kLast = (kCopyChunks - 1) * kLineUnit;
    if (element + kLast + kAlignedVector <= extent && has_around(from) &&
        has_around(from + kLast)) {
      copy_whole(from, at);
    } else {
      copy_end(from, extent - element, at, static_cast<int>(copy.ld) - element);
    }
  }

 private:
  // Of line `line` of all entries.
  __device__ __forceinline__ const unsigned short* start_of(long long line) const {
    const auto lines = static_cast<unsigned>(copy.lines);
    const unsigned entry = copy.entries == 1 ? 0 : static_cast<unsigned>(line) / lines;
    return data + entry * stride + (line - entry * copy.lines) * ld;
  }

  // A thread's chunks of a piece that the line has all of.
  static __device__ __forceinline__ void copy_whole(const unsigned short* from,
                                                    unsigned short* to) {
    AlignedPair pairs[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) pairs[i] = pair_around(from + i * kLineUnit);
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i)
      store_halves(to + i * kLineUnit, shifted<kVector>(pairs[i], shift_of(from)));
  }

  // Those of a piece where `count` elements of the line are left, and `room` of its copy.
  __device__ __forceinline__ void copy_end(const unsigned short* from, int count,
                                           unsigned short* to, int room) const {
    AlignedPair pairs[kCopyChunks];
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      pairs[i] = {};
      if (i * kLineUnit < count && has_around(from + i * kLineUnit))
        pairs[i] = pair_around(from + i * kLineUnit);
    }
#pragma unroll
    for (int i = 0; i < kCopyChunks; ++i) {
      if (i * kLineUnit < room)
        store_halves(to + i * kLineUnit,
                     chunk_of(pairs[i], from + i * kLineUnit, count - i * kLineUnit));
    }
  }

  // Whether the aligned 16 bytes around the 8 elements at `from` lie in the operand, which others'
  // memory may surround.
  __device__ __forceinline__ bool has_around(const unsigned short* from) const {
    const unsigned short* const end =
        data + (copy.entries - 1) * stride + (copy.lines - 1) * ld + extent;
    return from - data >= kAlignedVector && end - from >= 2 * kAlignedVector;
  }

  // The chunk at `from`, where `count` elements of the line are left: of the pair around it, if
  // that was read.
  __device__ __forceinline__ HalfVector<kAlignedVector> chunk_of(const AlignedPair& pair,
                                                                 const unsigned short* from,
                                                                 int count) const {
    if (count > 0 && !has_around(from)) return load_each(from, count);
    const HalfVector<kAlignedVector> chunk = shifted<kVector>(pair, shift_of(from));
    return count < kAlignedVector ? first_of(chunk, count) : chunk;
  }

  static __device__ __forceinline__ int shift_of(const unsigned short* from) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(from) % 16);
  }

  static __device__ __forceinline__ AlignedPair pair_around(const unsigned short* from) {
    const auto address = reinterpret_cast<unsigned long long>(from);
    const auto* const at = reinterpret_cast<const unsigned short*>(address - address % 16);
    return {load_halves<kAlignedVector>(at), load_halves<kAlignedVector>(at + kAlignedVector)};
  }

  // Zeros behind the first `count`.
  static __device__ __forceinline__ HalfVector<kAlignedVector> first_of(
      HalfVector<kAlignedVector> out, int count) {
#pragma unroll
    for (int i = 0; i < kAlignedVector; i += 2) {
      if (i >= count) out.words[i / 2] = 0;
      if (i + 1 == count) out.words[i / 2] &= 0xffff;
    }
    return out;
  }

  // Few threads come here, and all would wait for the text of an unrolled loop.
  static __device__ __forceinline__ HalfVector<kAlignedVector> load_each(const unsigned short* from,
                                                                         int count) {
    HalfVector<kAlignedVector> out = {};
#pragma unroll 1
    for (int i = kAlignedVector - 1; i >= 0; --i) {
#pragma unroll
      for (int w = 3; w > 0; --w) out.words[w] = out.words[w] << 16 | out.words[w - 1] >> 16;
      out.words[0] = out.words[0] << 16 | (i < count ? from[i] : 0u);
    }
    return out;
  }
};

// What the main kernel and the copying one do with a problem: which operands are copied, and where
// they are found afterwards.
template <KernelTraits kTraits>
struct AlignedOperands {
  static constexpr bool kCopiesA = kTraits.vector_a < kAlignedVector;
  static constexpr bool kCopiesB = kTraits.vector_b < kAlignedVector;
  static_assert(kCopiesA || kCopiesB, "an operand needs the copy");
  // Those of the problem that the main kernel sees.
  static constexpr KernelTraits kAligned = {kTraits.a_row_major, kTraits.b_row_major,
                                            kAlignedVector,      kAlignedVector,
                                            kTraits.vector_c,    kTraits.epilogue};

  static __device__ __forceinline__ AlignedLines copy_of_a(const GemmArgs& args) {
    return AlignedLines(kTraits.a_row_major, args.m, args.k, args.stride_a, args.batch);
  }
  static __device__ __forceinline__ AlignedLines copy_of_b(const GemmArgs& args) {
    return AlignedLines(!kTraits.b_row_major, args.n, args.k, args.stride_b, args.batch);
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
      const CopiedOperand<kTraits.vector_a> a{static_cast<const unsigned short*>(args.a), args.lda,
                                              args.stride_a, kTraits.a_row_major ? args.k : args.m,
                                              copy_of_a(args)};
      const auto blocks = static_cast<unsigned>(a.copy.copy_blocks());
      if (block < blocks) {
        a.copy_block(block, workspace);
        return;
      }
      block -= blocks;
      workspace += a.copy.elements();
    }
    if constexpr (kCopiesB) {
      const CopiedOperand<kTraits.vector_b> b{static_cast<const unsigned short*>(args.b), args.ldb,
                                              args.stride_b, kTraits.b_row_major ? args.n : args.k,
                                              copy_of_b(args)};
      b.copy_block(block, workspace);
    }
  }
};

}  // namespace gemmtune
