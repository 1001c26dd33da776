#pragma once

#include <cstdint>

namespace gemmtune::codegen {

// What multiplies.
enum class Arithmetic {
  fma,          // one multiply-add per lane and instruction
  tensor_core,  // mma of a warp
};

// How operands reach the instructions that multiply.
enum class OperandPath {
  global,           // each thread loads what it needs from global memory
  shared_words,     // through shared memory, element by element
  shared_vectors,   // through shared memory, in vectors
  warp_tiles,       // the same, read as the fragments of warp tiles
  warpgroup_tiles,  // read from shared memory by wgmma
  streamed,         // the long operand from global memory to registers or a ring, once
};

// What a block of the main kernel does in its main loop, as far as the tile and the problem's
// traits decide it. Counted, not measured: for models and search, before anything is compiled.
struct MainloopCost {
  Arithmetic arithmetic = Arithmetic::fma;
  OperandPath path = OperandPath::warp_tiles;
  int step_depth = 0;   // values of k that are copied, then multiplied, together; 0: no steps
  int steps_ahead = 0;  // whose copies are under way while one is multiplied; 0: they take turns
  bool register_staged = false;  // what is ahead is held in registers, not in shared memory
  int direct_lines = 0;          // of a tile of both operands: those that TMA leaves to threads
  int load_a = 1;                // elements of one load of A from global memory
  int load_b = 1;
  int groups = 1;  // of warps, that multiply their own parts of k at the same time
  // Results of a thread, or where threads share instructions (tensor cores) of a warp.
  int result_rows = 1;
  int result_columns = 1;
  int promotion_steps = 0;  // between additions outside the tensor cores; 0: none
};

// Bytes that the threads of a kernel load for one multiply-add, counted as the kernel's text reads:
// what caches and the merged accesses of a warp save is left out.
struct LoadBytes {
  double global = 0;
  double shared = 0;  // 0: the kernel uses no shared memory
};

// What a candidate's kernels do for a problem.
struct KernelWork {
  int64_t blocks = 0;       // of the main kernel; of a persistent grid, tiles
  int64_t block_depth = 0;  // values of k that a block of the main kernel multiplies
  int launches = 1;         // the main kernel's included
  // Moved to add up partial results or to copy operands, mostly within L2.
  int64_t reduction_bytes = 0;
  // Of a persistent grid, whose blocks load their next tile while they store one; 0: there is none.
  int64_t persistent_blocks = 0;
  // Sums of other blocks that a block reads after its main loop and adds by itself, at the most.
  int64_t handed_bytes = 0;
};

}  // namespace gemmtune::codegen
