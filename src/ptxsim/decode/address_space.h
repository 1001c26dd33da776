// How the simulator maps the state spaces into 64-bit generic addresses.
//
// A shared, local or parameter address is an offset; its generic address is window + offset.
// Global and constant addresses are generic addresses already.
// Shared addresses count from 1024, as on sm_80 and newer, whose first KiB belongs to the system.
// In shared::cluster addresses, bits 24 and up are 1 + the rank of the block in its cluster, and 0
// means the block itself.
#pragma once

#include <cstdint>

namespace gemmtune::ptxsim {

inline constexpr uint64_t kGlobalBase = 0x10'0000'0000;
inline constexpr uint64_t kSharedWindow = 0x7000'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x7100'0000'0000;
inline constexpr uint64_t kParamWindow = 0x7200'0000'0000;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;

inline constexpr uint32_t kSharedBase = 1024;
inline constexpr uint32_t kMaxSharedBytes = 256 * 1024;
inline constexpr uint32_t kMaxLocalBytes = 512 * 1024;
inline constexpr uint32_t kClusterRankShift = 24;
inline constexpr uint32_t kClusterOffsetMask = (1U << kClusterRankShift) - 1;

// Of a shared address, with a rank in it or not: the byte of its block's shared memory.
inline uint32_t shared_offset(uint64_t address) {
  return static_cast<uint32_t>(address & kClusterOffsetMask) - kSharedBase;
}
// The same place in block `rank` of the cluster.
inline uint32_t address_in_rank(uint32_t address, uint32_t rank) {
  return (rank + 1) << kClusterRankShift | (address & kClusterOffsetMask);
}

}  // namespace gemmtune::ptxsim
