#pragma once

#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Ping-pong: consumers multiply one after the other, so that one stores results while the next one
// multiplies. A consumer that waited for a stage before the one in front of it had seen that
// stage's last filling would take the wrong one for its own: barriers tell only odd fillings from
// even ones.
//
//     consumer 0: multiply | pass | store          | await | multiply ...
//     consumer 1: await           | multiply | pass | store

namespace gemmtune {

template <TileConfig kTile>
struct ConsumerTurns {
  static constexpr int kTurns = kTile.schedule == kPingPong ? kTile.consumers : 1;

  int consumer;
  int rounds;  // of all consumers
  int round = 0;

  __device__ __forceinline__ bool ended() const { return round >= rounds; }

  // Before a consumer multiplies, or would if it still had a tile.
  __device__ __forceinline__ void await() const {
    if constexpr (kTurns > 1) {
      if (round == 0 && consumer == 0) return;
      asm volatile("bar.sync %0, %1;" ::"r"(1 + consumer), "n"(2 * kWarpgroupThreads) : "memory");
    }
  }

  // When it has issued its products.
  __device__ __forceinline__ void pass() const {
    if constexpr (kTurns > 1) {
      if (round == rounds - 1 && consumer == kTurns - 1) return;
      const int next = consumer == kTurns - 1 ? 0 : consumer + 1;
      asm volatile("bar.arrive %0, %1;" ::"r"(1 + next), "n"(2 * kWarpgroupThreads) : "memory");
    }
  }
};

}  // namespace gemmtune
