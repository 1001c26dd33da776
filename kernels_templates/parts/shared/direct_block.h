#pragma once

#include "parts/shared/host_device.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Blocks of wgmma_direct.cuh: two warpgroups that fill stages, and the consumers.

namespace gemmtune {

inline constexpr int kDirectProducers = 2;
inline constexpr int kDirectProducerWarps = kDirectProducers * kWarpsOfWarpgroup;
inline constexpr int kDirectLines = 128;  // of 128 bytes, that a stage has of what threads load

GEMMTUNE_HOST_DEVICE constexpr int direct_threads(const TileConfig& tile) {
  return (kDirectProducers + tile.consumers) * kWarpgroupThreads;
}

// Registers of a thread, as WgmmaRegisters; a producer holds what it loads.
struct DirectRegisters {
  static constexpr int kLeastProducer = 120;

  int at_start;
  int producer;
  int consumer;

  GEMMTUNE_HOST_DEVICE explicit constexpr DirectRegisters(const TileConfig& tile)
      : at_start(0), producer(kLeastProducer), consumer(0) {
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

}  // namespace gemmtune
