#pragma once

#include "mma_multistage.cuh"
#include "parts/operand/aligned_copy.cuh"

// mma_misaligned: mma_multistage for operands whose extents or leading dimensions 16 bytes do not
// divide. A first kernel, prepare(), copies them into the workspace with lines that begin at
// multiples of 128 bytes (aligned_copy.cuh); the second is mma_multistage on the copies. That costs
// one more launch and every copied byte twice, and the main loop keeps its 16-byte cp.async.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaMisaligned {
  using Operands = AlignedOperands<kTraits>;
  using Main = MmaMultistage<kTile, Operands::kAligned, kTypes>;

  static constexpr int kThreads = Main::kThreads;
  static constexpr int kSmemBytes = Main::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    Main::run(Operands::aligned(args));
  }

  static constexpr int kPrepareThreads = Operands::kThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Operands::prepare(args); }
};

}  // namespace gemmtune
