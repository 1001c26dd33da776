// From an instruction's addresses to host memory, with every check on the way. Used by loads,
// stores, atomics, asynchronous copies and matrix loads alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

enum class AccessKind : uint8_t { read, write, update };

struct Access {
  Space space = Space::generic;
  AccessKind kind = AccessKind::read;
  uint32_t bytes = 0;      // a lane
  uint32_t alignment = 0;  // 0: that of `bytes`, which is then a power of two
};

using LaneAddresses = std::array<uint64_t, kWarpSize>;
using LanePointers = std::array<std::byte*, kWarpSize>;

// op[index] + immediate for every lane.
void lane_addresses(Warp& warp, const Instruction& in, size_t index, LaneAddresses& out);
// The row plus an offset, for instructions with several addresses.
void lane_addresses(Warp& warp, Row row, bool wide, int64_t offset, LaneAddresses& out);

// Fills `out` for the lanes in `mask`: where each lane's bytes are. A lane whose access is wrong is
// reported and gets bytes of its own to read zeros from or write to. Records the access for the
// checks of races and of uninitialised reads, and counts it for the profile.
void resolve(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
             const LaneAddresses& addresses, LanePointers& out);

// The same without records: bounds and alignment only. Returns the lanes that are fine.
uint32_t locate(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                const LaneAddresses& addresses, LanePointers& out);

// Records of global memory, for accesses that were only located.
void note_global_read(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                      uint32_t bytes);

// Counts one execution of an access (Options::profile).
void count_access(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                  const LaneAddresses& addresses);

// Adds the passes over the banks of the shared bytes that an execution of an asynchronous copy
// writes to what count_access() counted of the global bytes it reads.
void count_copy_destination(Warp& warp, const Instruction& in, uint32_t mask, uint32_t bytes,
                            const LaneAddresses& addresses);

}  // namespace gemmtune::ptxsim
