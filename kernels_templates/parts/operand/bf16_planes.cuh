#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/bf16_planes.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"

// Splits f32 operands into three bf16 planes in the workspace, whose sum they are: each plane is
// what the ones before it leave, rounded.
//
//     workspace: | A: entry 0: plane 0, plane 1, plane 2 | entry 1 ... | B: ... |
//     plane:     lines that begin at multiples of 128 bytes; what the operand does not have is zero
//
// A batch stride of 0 is one entry that all products share.

namespace gemmtune {

// Of planes 0, 1 and 2.
struct SplitPair {
  unsigned words[kBf16Planes];
};

// Of values that bf16 does not hold, infinities and what rounds to them, later planes make the
// products NaN (see NanComputedAgain).
__device__ __forceinline__ SplitPair split_pair(float first, float second) {
  SplitPair out;
#pragma unroll
  for (int plane = 0; plane < kBf16Planes; ++plane) {
    const unsigned pair = to_half_pair<kBf16>(first, second);
    out.words[plane] = pair;
    first -= __uint_as_float(pair << 16);
    second -= __uint_as_float(pair & 0xffff0000u);
  }
  return out;
}

// An operand of which kVector elements are aligned.
template <int kVector>
struct SplitOperand {
  const float* data;
  long long ld;
  long long stride;
  int extent;  // of a line
  Bf16Planes planes;

  __device__ __forceinline__ unsigned chunks() const {
    return static_cast<unsigned>(planes.lines.elements() / kSplitElements);
  }

  // Elements chunk * kSplitElements of the lines of all entries, to their planes at `to`.
  __device__ __forceinline__ void split(unsigned chunk, unsigned short* to) const {
    const auto line_chunks = static_cast<unsigned>(planes.lines.ld / kSplitElements);
    const unsigned line = chunk / line_chunks;  // over all entries
    const int element = static_cast<int>(chunk - line * line_chunks) * kSplitElements;
    const auto lines = static_cast<unsigned>(planes.lines.lines);
    const unsigned entry = line / lines;
    const unsigned line_of_entry = line - entry * lines;
    float values[kSplitElements];
    load(data + entry * stride + line_of_entry * ld + element, extent - element, values);
    HalfVector<kSplitElements> out[kBf16Planes];
#pragma unroll
    for (int i = 0; i < kSplitElements; i += 2) {
      const SplitPair pair = split_pair(values[i], values[i + 1]);
#pragma unroll
      for (int plane = 0; plane < kBf16Planes; ++plane) out[plane].words[i / 2] = pair.words[plane];
    }
    unsigned short* const at =
        to + entry * (planes.plane() * kBf16Planes) + line_of_entry * planes.lines.ld + element;
#pragma unroll
    for (int plane = 0; plane < kBf16Planes; ++plane)
      store_halves(at + plane * planes.plane(), out[plane]);
  }

 private:
  // `count` of them are the operand's; zeros for the others.
  static __device__ __forceinline__ void load(const float* from, int count,
                                              float (&out)[kSplitElements]) {
    constexpr int kWidth = kVector < 4 ? kVector : 4;
#pragma unroll
    for (int i = 0; i < kSplitElements; i += kWidth) {
      FloatVector<kWidth> part = {};
      if (i < count) part = load_vector<kWidth>(from + i);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) out[i + j] = part.v[j];
    }
  }
};

template <KernelTraits kTraits>
struct SplitOperands {
  static constexpr int kThreads = kSplitThreads;
  // A thread kSplitElements elements.
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    const SplitOperand<kTraits.vector_a> a{
        static_cast<const float*>(args.a),
        args.lda,
        args.stride_a,
        kTraits.a_row_major ? args.k : args.m,
        {AlignedLines(kTraits.a_row_major, args.m, args.k, args.stride_a, args.batch)}};
    const SplitOperand<kTraits.vector_b> b{
        static_cast<const float*>(args.b),
        args.ldb,
        args.stride_b,
        kTraits.b_row_major ? args.n : args.k,
        {AlignedLines(!kTraits.b_row_major, args.n, args.k, args.stride_b, args.batch)}};
    auto* const workspace = static_cast<unsigned short*>(args.workspace);
    const unsigned chunk = blockIdx.x * kSplitThreads + threadIdx.x;
    if (chunk < a.chunks()) {
      a.split(chunk, workspace);
    } else if (chunk - a.chunks() < b.chunks()) {
      b.split(chunk - a.chunks(), workspace + a.planes.elements());
    }
  }
};

}  // namespace gemmtune
