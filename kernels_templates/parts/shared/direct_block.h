#pragma once

#include "parts/shared/host_device.h"
#include "parts/shared/k_major_lines.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Blocks of wgmma_direct.cuh, wgmma_direct_tf32.cuh and wgmma_direct_split_k.cuh: two warpgroups
// that fill stages, and the consumers.

namespace gemmtune {

inline constexpr int kDirectProducers = 2;
inline constexpr int kDirectProducerWarps = kDirectProducers * kWarpsOfWarpgroup;
inline constexpr int kDirectLines = 128;  // of 128 bytes, that a stage has of 16-bit elements

GEMMTUNE_HOST_DEVICE constexpr int direct_threads(const TileConfig& tile) {
  return (kDirectProducers + tile.consumers) * kWarpgroupThreads;
}

// Registers that a producer of 16-bit elements needs.
inline constexpr int kDirectHalvesRegisters = 120;

// Registers of a thread, as WgmmaRegisters; a producer holds what it loads, and has
// `least_producer` at least.
struct DirectRegisters {
  int at_start;
  int producer;
  int consumer;

  GEMMTUNE_HOST_DEVICE explicit constexpr DirectRegisters(
      const TileConfig& tile, int least_producer = kDirectHalvesRegisters)
      : at_start(0), producer(least_producer), consumer(0) {
    constexpr int kUnit = WgmmaRegisters::kUnit;
    at_start = WgmmaRegisters::kOfSm / direct_threads(tile) / kUnit * kUnit;
    const int of_all = (kDirectProducers + tile.consumers) * at_start;
    consumer =
        (of_all - kDirectProducers * producer) / at_least_one(tile.consumers) / kUnit * kUnit;
    if (consumer <= WgmmaRegisters::kMostShared) return;
    consumer = WgmmaRegisters::kMostShared;
    producer = (of_all - tile.consumers * consumer) / kDirectProducers / kUnit * kUnit;
  }
};

// Of tf32 products, whose operands wgmma reads with k contiguous only.
inline constexpr int kDirectTf32Depth = 32;       // of k, in a stage: a line of 128 bytes
inline constexpr int kDirectTf32Lines = 32;       // that a warp loads at once, or stores
inline constexpr int kMostDirectTf32Lines = 256;  // of a stage

// Whether threads load A then, and not B: of two such operands the one with fewer lines in a tile.
GEMMTUNE_HOST_DEVICE constexpr bool is_direct_a(const TileConfig& tile,
                                                const KernelTraits& traits) {
  return needs_k_major_a(traits) && (!needs_k_major_b(traits) || tile.tile_m <= tile.tile_n);
}

// The operands that TMA copies, from the callers': that of the threads as if it needed no copy.
GEMMTUNE_HOST_DEVICE constexpr KernelTraits without_direct(const TileConfig& tile,
                                                           const KernelTraits& traits) {
  KernelTraits out = traits;
  if (is_direct_a(tile, traits)) {
    out.a_row_major = true;
    out.vector_a = kKMajorVector;
  } else {
    out.b_row_major = false;
    out.vector_b = kKMajorVector;
  }
  return out;
}

// Of such blocks: a producer's thread holds a quarter of an element of each line of its stage.
GEMMTUNE_HOST_DEVICE constexpr DirectRegisters direct_tf32_registers(const TileConfig& tile,
                                                                     const KernelTraits& traits) {
  constexpr int kOthers = 48;  // addresses, counters
  const int lines = is_direct_a(tile, traits) ? tile.tile_m : tile.tile_n;
  return DirectRegisters(tile, lines / 4 + kOthers);
}

}  // namespace gemmtune
