#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/k_major_lines.h"
#include "parts/shared/kernel_traits.h"

// Copies of f32 operands in the workspace, with k contiguous and lines that begin at multiples of
// 128 bytes: those whose k is not contiguous are transposed, those that 16 bytes do not divide
// moved.
//
//     workspace: | A's batch entries | B's batch entries |      each where it is copied at all
//
// A block copies a tile of kKMajorRows lines and kKMajorDepth of k. A transposed one passes through
// shared memory, whose rows are of one k: row 8 * (k % 4) + k / 4 of them, kStride elements apart,
// so that eight threads, which read four neighbouring k of a line each, meet no bank twice:
//
//     global, k 0    m 0-3   m 4-7  ..           row 0   k 0         line m:  k 0-3   k 4-7  ..
//             k 1    m 0-3   m 4-7  ..    -->    row 1   k 4    -->
//             ..                                 ..                  one thread gathers column m of
//                                                row 8   k 1         rows 0, 8, 16, 24, the next of
//                                                ..                  rows 1, 9, 17, 25, ...
//
// A batch stride of 0 is one entry that all products share. What is stored of an element is up to
// Stored: itself (AsItIs), or parts of it, each in a plane of its own (tf32_planes.cuh); the planes
// of an entry lie one behind the other.

namespace gemmtune {

struct AsItIs {
  static constexpr int kPlanes = 1;

  static __device__ __forceinline__ void store(float* to, long long,
                                               const FloatVector<kKMajorVector>& values) {
    store_vector(to, values);
  }
};

// An operand of which kVector elements are aligned, and how it is copied.
template <int kVector, bool kContiguousK, class Stored>
struct KMajorOperand {
  static constexpr int kLineChunks = kKMajorDepth / kKMajorVector;  // of 16 bytes, in a tile
  static constexpr int kRowChunks = kKMajorRows / kKMajorVector;
  static constexpr int kChunks = kKMajorRows * kLineChunks / kKMajorThreads;  // of a thread
  static constexpr int kStride = kKMajorRows + kKMajorVector;
  using Chunk = FloatVector<kKMajorVector>;
  using SharedRows = float[kKMajorDepth * kStride];

  const float* data;
  long long ld;
  long long stride;
  int k;
  KMajorLines copy;

  // Copies tile `tile` of those of all entries to the operand's part `to` of the workspace.
  __device__ __forceinline__ void copy_tile(unsigned tile, float* to, SharedRows& rows) const {
    const auto of_entry = static_cast<unsigned>(copy.tiles_of_entry());
    const auto along_k = static_cast<unsigned>(copy.tiles_along_k());
    const unsigned entry = tile / of_entry;
    const unsigned inside = tile - entry * of_entry;
    const float* const from = data + entry * stride;
    to += entry * (plane() * Stored::kPlanes);
    const int line = static_cast<int>(inside / along_k) * kKMajorRows;
    const int depth = static_cast<int>(inside % along_k) * kKMajorDepth;
    if constexpr (kContiguousK) {
      move(from, to, line, depth);
    } else {
      read_rows(from, rows, line, depth);
      __syncthreads();
      store_lines(rows, to, line, depth);
    }
  }

  __device__ __forceinline__ long long elements() const {
    return copy.elements() * Stored::kPlanes;
  }

 private:
  __device__ __forceinline__ long long plane() const { return copy.lines * copy.ld; }

  __device__ __forceinline__ int lines_left(int line) const {
    return static_cast<int>(copy.lines) - line;
  }

  // `count` of them exist; zeros for the others.
  static __device__ __forceinline__ Chunk load(const float* from, int count) {
    Chunk out = {};
    if constexpr (kVector >= kKMajorVector) {
      if (count > 0) out = load_vector<kKMajorVector>(from);
    } else {
#pragma unroll
      for (int i = 0; i < kKMajorVector; ++i) {
        if (i < count) out.v[i] = from[i];
      }
    }
    return out;
  }

  __device__ __forceinline__ void move(const float* from, float* to, int line, int depth) const {
    Chunk chunks[kChunks];
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = i * kKMajorThreads + static_cast<int>(threadIdx.x);
      const int at_line = line + chunk / kLineChunks;
      const int at_k = depth + chunk % kLineChunks * kKMajorVector;
      chunks[i] = load(from + at_line * ld + at_k, lines_left(at_line) > 0 ? k - at_k : 0);
    }
#pragma unroll
    for (int i = 0; i < kChunks; ++i) store_chunk(chunks[i], to, i, line, depth);
  }

  __device__ __forceinline__ void read_rows(const float* from, SharedRows& rows, int line,
                                            int depth) const {
    Chunk chunks[kChunks];
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = i * kKMajorThreads + static_cast<int>(threadIdx.x);
      const int at_k = depth + chunk / kRowChunks;
      const int at_line = line + chunk % kRowChunks * kKMajorVector;
      chunks[i] = load(from + at_k * ld + at_line, at_k < k ? lines_left(at_line) : 0);
    }
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = i * kKMajorThreads + static_cast<int>(threadIdx.x);
      float* const row = rows + row_of(chunk / kRowChunks) * kStride;
      store_vector(row + chunk % kRowChunks * kKMajorVector, chunks[i]);
    }
  }

  // The row of shared memory of one k of the tile.
  static __device__ __forceinline__ int row_of(int at) {
    return at % kKMajorVector * kLineChunks + at / kKMajorVector;
  }

  __device__ __forceinline__ void store_lines(const SharedRows& rows, float* to, int line,
                                              int depth) const {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = i * kKMajorThreads + static_cast<int>(threadIdx.x);
      const float* const column = rows + chunk % kLineChunks * kStride + chunk / kLineChunks;
      Chunk out;
#pragma unroll
      for (int j = 0; j < kKMajorVector; ++j) out.v[j] = column[j * kLineChunks * kStride];
      store_chunk(out, to, i, line, depth);
    }
  }

  // The thread's i-th chunk of the tile's lines, if there is such a line.
  __device__ __forceinline__ void store_chunk(const Chunk& values, float* to, int i, int line,
                                              int depth) const {
    const int chunk = i * kKMajorThreads + static_cast<int>(threadIdx.x);
    const int at_line = line + chunk / kLineChunks;
    if (lines_left(at_line) <= 0) return;
    Stored::store(to + at_line * copy.ld + depth + chunk % kLineChunks * kKMajorVector, plane(),
                  values);
  }
};

// Which operands are copied, and what the main kernel sees.
template <KernelTraits kTraits, class Stored>
struct KMajorCopies {
  using A = KMajorOperand<kTraits.vector_a, kTraits.a_row_major, Stored>;
  using B = KMajorOperand<kTraits.vector_b, !kTraits.b_row_major, Stored>;
  static constexpr bool kInPlanes = Stored::kPlanes > 1;
  static constexpr bool kCopiesA = kInPlanes || needs_k_major_a(kTraits);
  static constexpr bool kCopiesB = kInPlanes || needs_k_major_b(kTraits);
  static_assert(kCopiesA || kCopiesB, "an operand needs the copy");
  static constexpr KernelTraits kAligned = {true,
                                            false,
                                            kKMajorVector,
                                            kKMajorVector,
                                            kTraits.vector_c,
                                            kTraits.epilogue,
                                            false,
                                            kTraits.fetches_c};

  static constexpr int kThreads = kKMajorThreads;

  // A block its tile of A or B.
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    __shared__ __align__(16) typename A::SharedRows rows;
    auto* workspace = static_cast<float*>(args.workspace);
    unsigned tile = blockIdx.x;
    if constexpr (kCopiesA) {
      const A a{static_cast<const float*>(args.a), args.lda, args.stride_a, args.k,
                KMajorLines(args.m, args.k, args.stride_a, args.batch)};
      const auto tiles = static_cast<unsigned>(a.copy.tiles());
      if (tile < tiles) {
        a.copy_tile(tile, workspace, rows);
        return;
      }
      tile -= tiles;
      workspace += a.elements();
    }
    if constexpr (kCopiesB) {
      const B b{static_cast<const float*>(args.b), args.ldb, args.stride_b, args.k,
                KMajorLines(args.n, args.k, args.stride_b, args.batch)};
      b.copy_tile(tile, workspace, rows);
    }
  }
};

// Copies of the operands as they are.
template <KernelTraits kTraits>
using KMajorOperands = KMajorCopies<kTraits, AsItIs>;

}  // namespace gemmtune
