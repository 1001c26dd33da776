#pragma once

// The tile of a kernel: one plain struct that host and device share. The host enumerates, stores
// and checks it; the kernel receives it as its single non-type template parameter.
//
// A field that a strategy does not use is 0. What a strategy uses, and which values are legal, is
// said by its host file in src/codegen/strategies/.

namespace gemmtune {

// How the lanes of a warp are laid over the thread tiles of a warp tile.
enum LaneOrder : int {
  kLanesRowMajor = 0,     // lane = row * lanes_n + column
  kLanesInterleaved = 1,  // 2 x 2 blocks of lanes, so that neighbours share both fragments' reads
};

// The order in which a thread tile's accumulators are updated: decides which operand the next FFMA
// reuses, and so the register-bank conflicts.
enum AccumulatorOrder : int {
  kOrderRowMajor = 0,
  kOrderSerpentineN = 1,  // along n, direction alternates with m
  kOrderSerpentineM = 2,  // along m, direction alternates with n
};

// How operands travel from global memory to the threads that multiply them.
enum CopyPath : int {
  kCopyRegisters = 0,  // through registers to shared memory
  kCopyAsync = 1,      // to shared memory by cp.async (sm_80 and up)
  kCopyDirect = 2,     // straight to registers, without shared memory
};

// Who copies the operand of the short side to shared memory.
enum CopyScope : int {
  kScopeBlock = 0,  // all threads of a block, tile_k values of k at a time, behind a barrier
  kScopeWarp = 1,   // each warp what its own lanes multiply, a stage of the pipeline at a time
};

// How the partial products of a split k are added up.
enum Reduction : int {
  kReduceWorkspace = 0,  // a second kernel sums them in order: deterministic
  kReduceAtomic = 1,     // red.add into C: the order, and so the rounding, varies from run to run
  kReduceCluster = 2,  // through distributed shared memory, in order (sm_90 and up): deterministic
};

// How the warpgroups of a block that multiply (consumers) share out tiles of C.
enum ConsumerSchedule : int {
  kCooperative = 0,  // all of them compute the same tile, each some of its rows
  kPingPong = 1,     // each computes its own: one stores results while the next one multiplies
};

struct TileConfig {
  int tile_m = 0;        // rows of C a block computes
  int tile_n = 0;        // columns of C a block computes
  int tile_k = 0;        // depth of one shared-memory buffer
  int warp_m = 0;        // rows of C a warp computes
  int warp_n = 0;        // columns of C a warp computes
  int thread_m = 0;      // rows of C a thread computes
  int thread_n = 0;      // columns of C a thread computes
  int iterations_m = 0;  // subtiles a thread tile is spread in along m; 0: subtiles of 4 rows
  int iterations_n = 0;  // along n; 0: subtiles of 4 columns
  int vector = 0;        // most elements an access may move; 0: what the alignment allows
  int stages = 0;        // shared-memory buffers
  int lanes = 0;         // LaneOrder
  int order = 0;         // AccumulatorOrder
  int copy = 0;          // CopyPath
  int copy_scope = 0;    // CopyScope
  int fragments =
      0;  // register buffers a fragment: 1, or 2 to load the next one while this one is multiplied
  int min_blocks = 0;  // blocks an SM that __launch_bounds__ asks for; 0 leaves it to the compiler
  int slices = 0;      // blocks that share the k of one tile of C; 0 or 1: k is not split
  int reduction = 0;   // Reduction
  int raster = 0;      // tile rows a raster group; 0 or 1 is plain row order
  int warps = 0;       // warps a block, where all of them share one tile of C and split k
  int unroll = 0;      // values of k that a thread multiplies at a time
  int promotion = 0;  // 3xtf32: mmas along k whose products are added up in the tensor cores before
                      // they are added to the sums outside of them; 0 counts as 1.
                      // operands in planes, 8-bit operands: the same of tiles of k
  int ahead = 0;      // not 0: the next k tile's first fragments are read before this one's last
                      // products, and its copies go out in so many bursts between the others
  int groups = 0;     // groups of warps in a block that share out the k of its tile of C
  int sharing_blocks = 0;  // stream-K: blocks that take equal shares of the k tiles of some tiles
                           // of C
  int consumers = 0;       // warpgroups of a block that multiply; one more copies
  int schedule = 0;        // ConsumerSchedule
  int exchange = 0;        // not 0: op(B)^T * op(A)^T, so that the side of 64 rows lies along n
  int cluster_m = 0;       // blocks of a cluster along m, which share tiles of B; 0 counts as 1
  int cluster_n = 0;       // along n, which share tiles of A; 0 counts as 1
  int persistent_blocks = 0;  // blocks that go through all tiles of C; 0: one block per tile
  int edge = 0;  // not 0: tiles that stick out of C begin before where they would, unless C is read

  constexpr bool operator==(const TileConfig&) const = default;
};

}  // namespace gemmtune
