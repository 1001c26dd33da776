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

// One operand on its way; kVector elements a load.
template <int kVector>
__device__ __forceinline__ void copy_chunk(unsigned short* to, const void* from, long long from_ld,
                                           long long from_stride, int extent,
                                           const AlignedLines& copy, long long chunk) {
  const long long line_chunks = copy.ld / kAlignedVector;
  const long long line = chunk / line_chunks;  // over all entries
  const int element = static_cast<int>(chunk - line * line_chunks) * kAlignedVector;
  const long long entry = line / copy.lines;
  const unsigned short* source = static_cast<const unsigned short*>(from) + entry * from_stride +
                                 (line - entry * copy.lines) * from_ld + element;
  HalfVector<kAlignedVector> out = {};
  if constexpr (kVector == 1) {
#pragma unroll
    for (int i = 0; i < kAlignedVector; i += 2) {
      const unsigned short first =
          element + i < extent ? source[i] : static_cast<unsigned short>(0);
      const unsigned short second =
          element + i + 1 < extent ? source[i + 1] : static_cast<unsigned short>(0);
      out.words[i / 2] = pack_halves(first, second);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kAlignedVector; i += kVector) {
      if (element + i >= extent) continue;
      const auto part = load_halves<kVector>(source + i);
#pragma unroll
      for (int w = 0; w < kVector / 2; ++w) out.words[i / 2 + w] = part.words[w];
    }
  }
  store_halves(to + chunk * kAlignedVector, out);
}

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

  // Makes them; a thread a chunk of 16 bytes.
  static __device__ __forceinline__ void copy(const GemmArgs& args) {
    auto* workspace = static_cast<unsigned short*>(args.workspace);
    long long chunk = static_cast<long long>(blockIdx.x) * kCopyThreads + threadIdx.x;
    if constexpr (kCopiesA) {
      const AlignedLines a = copy_of_a(args);
      const long long chunks = a.elements() / kAlignedVector;
      if (chunk < chunks) {
        copy_chunk<kTraits.vector_a>(workspace, args.a, args.lda, args.stride_a,
                                     kTraits.a_row_major ? args.k : args.m, a, chunk);
        return;
      }
      chunk -= chunks;
      workspace += a.elements();
    }
    if constexpr (kCopiesB) {
      const AlignedLines b = copy_of_b(args);
      if (chunk < b.elements() / kAlignedVector) {
        copy_chunk<kTraits.vector_b>(workspace, args.b, args.ldb, args.stride_b,
                                     kTraits.b_row_major ? args.n : args.k, b, chunk);
      }
    }
  }
};

}  // namespace gemmtune
