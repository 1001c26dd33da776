#pragma once

#include "parts/ptx/cp_async.cuh"
#include "parts/ptx/thread_group.cuh"

namespace gemmtune {

// Copies what C holds from (row, column) on to lines in shared memory, kLines of kChunks times 16
// bytes; zeros where C ends. `place(line, chunk)` is where 16 bytes go. By a warp together.
template <int kLines, int kChunks, class Writer, class Place>
__device__ __forceinline__ void copy_old_lines(const Writer& writer, int row, int column,
                                               Place place) {
  constexpr int kColumnsOfChunk = 16 / static_cast<int>(sizeof(*writer.c));
  constexpr int kLinesAtOnce = 32 / kChunks;
  const int lane = reread_thread_index() % 32;  // not kept while the tile is multiplied
  const int chunk = lane % kChunks;
  const int n = column + chunk * kColumnsOfChunk;
  const int end = lane < kLinesAtOnce * kChunks ? kLines : 0;
#pragma unroll 1
  for (int line = lane / kChunks; line < end; line += kLinesAtOnce) {
    cp_async_or_zero<16>(place(line, chunk), writer.c + (row + line) * writer.args.ldc + n,
                         row + line < writer.args.m && n < writer.args.n);
  }
  cp_async_commit();
  cp_async_wait<0>();
}

}  // namespace gemmtune
