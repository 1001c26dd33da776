// Sectors, coalescing and bank conflicts of one warp-wide access.
//
// Global: a request moves 32-byte sectors; the ideal is as many as would hold the distinct bytes.
// Shared: 32 banks of 4 bytes. One wavefront serves any words of distinct banks, the same word to
// any number of lanes. Accesses of 8 and 16 bytes per lane are served in halves and quarters of a
// warp. Source: CUDA C++ Best Practices Guide, "Memory Optimizations"; Nsight Compute, "Memory
// Tables".
#include <algorithm>
#include <array>
#include <bit>

#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint64_t kSectorBytes = 32;
constexpr uint64_t kBankBytes = 4;
constexpr uint64_t kBanks = 32;

uint64_t distinct(uint64_t* values, size_t count) {
  std::sort(values, values + count);
  return static_cast<uint64_t>(std::unique(values, values + count) - values);
}

void count_sectors(uint32_t mask, uint32_t bytes, const LaneAddresses& addresses,
                   AccessCounts& counts) {
  std::array<uint64_t, size_t{kWarpSize}* 2> sectors = {};
  std::array<uint64_t, kWarpSize> starts = {};
  size_t count = 0;
  size_t lanes = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint64_t address = addresses[static_cast<size_t>(std::countr_zero(left))];
    starts[lanes++] = address;
    sectors[count++] = address / kSectorBytes;
    sectors[count++] = (address + bytes - 1) / kSectorBytes;
  }
  counts.sectors += distinct(sectors.data(), count);
  const uint64_t wanted = distinct(starts.data(), lanes) * bytes;
  counts.ideal_sectors += (wanted + kSectorBytes - 1) / kSectorBytes;
}

// Passes for the lanes of one part of the warp.
uint64_t wavefronts_of(uint32_t lanes, uint32_t bytes, const LaneAddresses& addresses) {
  std::array<uint64_t, size_t{kWarpSize}* 4> words = {};
  size_t count = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = addresses[static_cast<size_t>(std::countr_zero(left))];
    const uint64_t last = (address + bytes - 1) / kBankBytes;
    for (uint64_t word = address / kBankBytes; word <= last && count < words.size(); ++word) {
      words[count++] = word;
    }
  }
  const uint64_t different = distinct(words.data(), count);
  std::array<uint32_t, kBanks> in_bank = {};
  uint32_t most = 0;
  for (size_t i = 0; i < different; ++i) most = std::max(most, ++in_bank[words[i] % kBanks]);
  return most;
}

void count_wavefronts(uint32_t mask, uint32_t bytes, const LaneAddresses& addresses,
                      AccessCounts& counts) {
  const uint32_t parts = bytes <= 4 ? 1 : bytes / 4;
  const uint32_t lanes_each = kWarpSize / parts;
  for (uint32_t part = 0; part < parts; ++part) {
    const uint32_t part_mask =
        lanes_each == kWarpSize ? kAllLanes : ((1U << lanes_each) - 1) << (part * lanes_each);
    if ((mask & part_mask) == 0) continue;
    counts.wavefronts += wavefronts_of(mask & part_mask, bytes, addresses);
    ++counts.ideal_wavefronts;
  }
}

}  // namespace

void count_access(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                  const LaneAddresses& addresses) {
  AccessCounts& counts = warp.log().accesses[warp.index_of(in)];
  counts.space = access.space;
  counts.bytes_per_lane = access.bytes;
  ++counts.executions;
  counts.lanes += static_cast<uint64_t>(std::popcount(mask));
  if (access.space == Space::global || access.space == Space::constant) {
    count_sectors(mask, access.bytes, addresses, counts);
  } else if (access.space == Space::shared) {
    count_wavefronts(mask, access.bytes, addresses, counts);
  }
}

void count_copy_destination(Warp& warp, const Instruction& in, uint32_t mask, uint32_t bytes,
                            const LaneAddresses& addresses) {
  count_wavefronts(mask, bytes, addresses, warp.log().accesses[warp.index_of(in)]);
}

}  // namespace gemmtune::ptxsim
