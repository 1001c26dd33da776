#pragma once

#include "parts/epilogue/old_lines.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/elect.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/stmatrix.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a consumer of exchanged tiles by TMA, where rows of a 16-bit C are whole 16
// bytes: 64 columns of C and all rows of the tile. Each warp has the sums of 16 columns, a lane
// pairs of neighbouring rows. They are finished in registers and transposed on their way to lines
// along n, which the consumer's warps share:
//
//              warp 0    warp 1    warp 2    warp 3
//     row 0  | 32 bytes| 32 bytes| 32 bytes| 32 bytes|   a line of 128 bytes
//     row 1  |                                       |
//     ...
//
// Parts of some rows pass through as many buffers as WgmmaExchangedBoxes says.

namespace gemmtune {

template <TileConfig kTile, ElementType kResult, class Writer, int kStagesBytes>
struct WgmmaExchangedStore {
  static constexpr WgmmaExchangedBoxes kBoxes{kTile, kStagesBytes};
  static constexpr int kParts = (kTile.tile_m + kBoxes.lines - 1) / kBoxes.lines;
  static constexpr int kFirstBarrier = 5;  // others have those before
  using Element = typename Writer::Element;

  // That of the lane's columns, two of each 64: loaded before the tile is multiplied.
  struct ColumnBias {
    using Of = typename Writer::template BiasVector<1>;
    static constexpr int kRowTiles = consumer_rows(kTile) / kWgmmaRows;
    static constexpr int kCount = Writer::kHasColumnBias ? 2 * kRowTiles : 1;
    Of of[kCount] = {};

    // `column` is the warp's first.
    static __device__ __forceinline__ ColumnBias load(const Writer& writer, int column) {
      ColumnBias out;
      if constexpr (Writer::kHasColumnBias) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          const int n =
              column + i / 2 * kWgmmaRows + i % 2 * 8 + static_cast<int>(threadIdx.x) % 32 / 4;
          if (n < writer.args.n) out.of[i] = writer.template column_bias<1>(n);
        }
      }
      return out;
    }

    __device__ __forceinline__ float get(int index, int half) const {
      return Writer::kHasColumnBias ? of[(2 * index + half) % kCount].get(0) : 0.0f;
    }
  };

  // (row, column) is where the tile's rows and the warp's 16 columns begin in C; `index` counts
  // the calls for a tile of C. `buffers` are the consumer's. By all of its warps together.
  template <class Sums>
  static __device__ __forceinline__ void store(const Sums& sums, unsigned char* buffers,
                                               const Writer& writer, const ColumnBias& bias,
                                               const TensorMap& c, int batch, int row, int column,
                                               int index) {
    const int warp = reread_thread_index() / 32 % kWarpsOfWarpgroup;
    const bool leads = is_leader();
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int count = index * kParts + part;
      unsigned char* const lines = buffers + count % kBoxes.buffers * kBoxes.part_bytes();
      const int first = part * kBoxes.lines;
      if (leads) wait_for_free_buffer<kBoxes.buffers>(count);
      consumer_sync();
      if (writer.args.beta != 0.0f) {
        copy_old_lines<kBoxes.lines, 2>(writer, row + first, column, [&](int line, int chunk) {
          return shared_address(lines + offset(line, 2 * warp + chunk));
        });
        __syncwarp();
        lay_out<true>(sums, lines, warp, writer, bias, row, first, index);
      } else {
        lay_out<false>(sums, lines, warp, writer, bias, row, first, index);
      }
      tensor_store_fence();
      consumer_sync();
      if (leads) {
#pragma unroll
        for (int line = 0; line < kBoxes.lines; line += kBoxes.box_lines) {
          if (first + line < kTile.tile_m)
            store_box(c, column, row + first + line, batch,
                      shared_address(lines + line * WgmmaExchangedBoxes::kLineBytes));
        }
        commit_stored_boxes();
      }
    }
  }

  // By each warp, before its block ends.
  static __device__ __forceinline__ void finish() {
    if (is_leader()) wait_for_stored_boxes<0>();
  }

 private:
  // The thread that TMA stores for: of the consumer's first warp, whose columns are the first ones.
  static __device__ __forceinline__ bool is_leader() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpsOfWarpgroup == 0 && is_elected();
  }

  static __device__ __forceinline__ void consumer_sync() {
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads - 1;
    asm volatile("bar.sync %0, %1;" ::"r"(kFirstBarrier + consumer), "n"(kWarpgroupThreads)
                 : "memory");
  }

  // Where 16 bytes of a line are, as TMA swizzles them.
  static __device__ __forceinline__ int offset(int line, int chunk) {
    return line * WgmmaExchangedBoxes::kLineBytes + ((chunk ^ line % kSwizzleLines) << 4);
  }

  // Lays the warp's results of the part that begins with the tile's row `first` out in its lines,
  // in place of what C held there.
  template <bool kReadsC, class Sums>
  static __device__ __forceinline__ void lay_out(const Sums& sums, unsigned char* lines, int warp,
                                                 const Writer& writer, const ColumnBias& bias,
                                                 int row, int first, int index) {
    constexpr int kEights = kBoxes.box_lines / 8;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int line = 0; line < kBoxes.lines; line += kBoxes.box_lines) {
      if (first + line >= kTile.tile_m) continue;
      unsigned words[2 * kEights];
#pragma unroll
      for (int e = 0; e < kEights; ++e) {
        const int at = line + e * 8 + lane % 4 * 2;  // the lane's pair of rows, in the part
        const FloatVector<2> of_rows = row_biases(writer, row + first + at);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float of_column = bias.get(index, half);
          const int chunk = 2 * warp + half;
          FloatVector<2> old = {};
          if constexpr (kReadsC) {
#pragma unroll
            for (int v = 0; v < 2; ++v)
              old.v[v] = from_half<kResult>(
                  reinterpret_cast<const Element*>(lines + offset(at + v, chunk))[lane / 4]);
          }
          const int from = first + line + e * 8;  // wgmma's column
          const FloatVector<2> values = writer.template results<kReadsC>(
              {sums.get(from, half, 0), sums.get(from, half, 1)}, old,
              Writer::kHasColumnBias ? FloatVector<2>{of_column, of_column} : of_rows);
          words[2 * e + half] = to_half_pair<kResult>(values.v[0], values.v[1]);
        }
      }
      if constexpr (kReadsC) __syncwarp();  // lanes store where others have read
      // What the lane tells stmatrix: the place of a row of 8 columns.
      const int to = line + lane / 16 % kEights * 8 + lane % 8;
      store_matrices<true>(shared_address(lines + offset(to, 2 * warp + lane / 8 % 2)), words);
    }
  }

  // Of rows m and m + 1, as far as C has them.
  static __device__ __forceinline__ FloatVector<2> row_biases(const Writer& writer, int m) {
    FloatVector<2> out = {};
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      if (m + v < writer.args.m) out.v[v] = writer.row_bias(m + v);
    }
    return out;
  }
};

}  // namespace gemmtune
