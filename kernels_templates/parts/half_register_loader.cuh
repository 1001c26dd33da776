#pragma once

#include "parts/half_access.cuh"
#include "parts/swizzled_rows.cuh"
#include "parts/vector_access.cuh"

// Brings kTileMn x kTileK tiles of A or B, elements of kType, from global to shared memory, where
// they have 16 bits (f32 becomes f16), through registers, in two steps, so that the loads of the
// next tile are in flight while this one is multiplied: where there is no cp.async (before sm_80),
// or where elements are converted on their way.
//
// A shared tile has the operand's own storage order: a line of it is a row of the operand that is
// contiguous along k (kTileMn lines), or along mn (kTileK lines). Where a line lies is told by
// Rows<chunks of 16 bytes a line>. One access moves kVector elements; with kVector = 1 pairs are
// put together from two loads.
//
// Thread t makes the accesses of column t % kAcross of the lines t / kAcross, + kLinesAtOnce, ...:
//
//     line 0                t0  t1  t2  t3  t4  t5  t6  t7
//     line 1                t8  t9  ...                      kAcross = 8
//     ...
//     line kLinesAtOnce     t0  t1  ...
//
// so its global addresses are one pointer stepped by kLinesAtOnce lines; Rows::filled() may put the
// lines of a warp in another order. What lies outside the operand is zero and is not read.

namespace gemmtune {

// What one access holds on its way. It is packed or rounded only when it is stored: doing so sooner
// would wait for the loads.
template <ElementType kType, int kVector>
struct HeldElements {
  using Element = unsigned short;
  HalfVector<kVector> vector;

  // The first `left` elements from there on exist: all or none.
  __device__ __forceinline__ void load(const Element* from, int left) {
    vector = {};
    if (left > 0) vector = load_halves<kVector>(from);
  }
  __device__ __forceinline__ HalfVector<kVector> packed() const { return vector; }
};
template <ElementType kType>
struct HeldElements<kType, 1> {
  using Element = unsigned short;
  Element first;
  Element second;

  __device__ __forceinline__ void load(const Element* from, int left) {
    first = left > 0 ? from[0] : static_cast<Element>(0);
    second = left > 1 ? from[1] : static_cast<Element>(0);
  }
  __device__ __forceinline__ HalfVector<2> packed() const { return {{pack_halves(first, second)}}; }
};
// f32 becomes f16.
template <int kVector>
struct HeldElements<kF32, kVector> {
  using Element = float;
  FloatVector<kVector> vector;

  __device__ __forceinline__ void load(const Element* from, int left) {
    vector = {};
    if (left > 0) vector = load_vector<kVector>(from);
  }
  __device__ __forceinline__ HalfVector<kVector> packed() const {
    HalfVector<kVector> out;
#pragma unroll
    for (int v = 0; v < kVector; v += 2) {
      out.words[v / 2] = to_half_pair<kF16>(vector.v[v], vector.v[v + 1]);
    }
    return out;
  }
};
template <>
struct HeldElements<kF32, 1> {
  using Element = float;
  Element first;
  Element second;

  __device__ __forceinline__ void load(const Element* from, int left) {
    first = left > 0 ? from[0] : 0.0f;
    second = left > 1 ? from[1] : 0.0f;
  }
  __device__ __forceinline__ HalfVector<2> packed() const {
    return {{to_half_pair<kF16>(first, second)}};
  }
};

// Elements that an access moves where the alignment allows `aligned`: fewer where threads would go
// without one.
__device__ constexpr int shared_out_vector(int elements, int threads, int aligned) {
  while (aligned > 2 && elements / aligned < threads) aligned /= 2;
  return aligned;
}

template <ElementType kType, int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK,
          template <int> class RowsOf>
class HalfRegisterLoader {
  using Held = HeldElements<kType, kVector>;
  using Element = typename Held::Element;
  static constexpr int kBytes = sizeof(Element);
  static constexpr int kLines = kContiguousK ? kTileMn : kTileK;
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  using Rows = RowsOf<kLine / 8>;
  static constexpr int kAccess = kVector > 1 ? kVector : 2;  // elements
  static constexpr int kLineAccesses = kLine / kAccess;
  static constexpr int kAcross = power_of_two_in(kLineAccesses, power_of_two_in(kThreads, 1 << 10));
  static constexpr int kStep = kAcross * kAccess;           // elements
  static constexpr int kColumns = kLineAccesses / kAcross;  // accesses of a thread in a line
  static constexpr int kLinesAtOnce = kThreads / kAcross;
  static constexpr int kLineSteps = kLines / kLinesAtOnce;  // lines of a thread
  static_assert(kThreads % kAcross == 0 && kLines % kLinesAtOnce == 0,
                "threads divide the lines of a tile");

 public:
  // `base` is the operand's first element of the k range; `start` the tile's first mn; `extent` the
  // operand's mn.
  __device__ __forceinline__ HalfRegisterLoader(const Element* base, long long ld, int start,
                                                int extent)
      : line_step_(ld * (kLinesAtOnce * kBytes)), mn_left_(extent - start) {
    const int thread = static_cast<int>(threadIdx.x);
    line_ = thread / kAcross;
    if constexpr (kLinesAtOnce % 8 == 0) line_ = Rows::template filled<kStep * 2>(line_);
    element_ = thread % kAcross * kAccess;
    from_ = reinterpret_cast<const char*>(kContiguousK ? base + (start + line_) * ld + element_
                                                       : base + line_ * ld + start + element_);
    rewind_ = kContiguousK ? kTileK * kBytes - kLineSteps * line_step_ : 0;
  }

  // Loads the next tile, of which the first `k_left` values of k exist.
  __device__ __forceinline__ void fetch(int k_left) {
    const int line_end = kContiguousK ? mn_left_ : k_left;
    const int element_end = kContiguousK ? k_left : mn_left_;
#pragma unroll
    for (int i = 0; i < kLineSteps; ++i) {
      const bool inside = line_ + i * kLinesAtOnce < line_end;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        held_[i][j].load(reinterpret_cast<const Element*>(from_ + j * (kStep * kBytes)),
                         inside ? element_end - element_ - j * kStep : 0);
      }
      from_ += line_step_;
    }
    from_ += rewind_;
  }

  // Writes what was loaded last to the shared tile.
  __device__ __forceinline__ void store(unsigned char* tile) const {
#pragma unroll
    for (int i = 0; i < kLineSteps; ++i) {
      unsigned char* const to =
          tile + Rows::offset(line_ + i * kLinesAtOnce, element_ / 8) + element_ % 8 * 2;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        store_halves(reinterpret_cast<unsigned short*>(to + j * (kStep * 2)), held_[i][j].packed());
      }
    }
  }

 private:
  const char* from_;     // the thread's next line
  long long line_step_;  // bytes from a line to the thread's next
  long long rewind_;     // bytes from behind a tile's last line to the next tile's first
  int mn_left_;          // from the tile's first mn to the operand's end
  int line_;             // the thread's first line and element in a tile
  int element_;
  Held held_[kLineSteps][kColumns];
};

}  // namespace gemmtune
