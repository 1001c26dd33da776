#include "ptxsim/machine/memory_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

namespace {

// What a faulty lane reads or writes instead. A host thread's own.
std::byte* scratch(uint32_t lane) {
  thread_local std::array<std::byte, size_t{kWarpSize} * 128> bytes;
  std::byte* own = bytes.data() + size_t{lane} * 128;
  std::memset(own, 0, 128);
  return own;
}

const char* verb(AccessKind kind) {
  return kind == AccessKind::read ? "a read" : kind == AccessKind::write ? "a write" : "an update";
}

uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::param:
      return kParamWindow;
    default:
      return 0;
  }
}

bool misaligned(Check check, Warp& warp, const Instruction& in, uint32_t lane, const Access& access,
                uint64_t address) {
  const uint32_t alignment = access.alignment != 0 ? access.alignment : access.bytes;
  if ((address & (alignment - 1)) == 0) return false;
  warp.report(check, in, lane, window_of(access.space) + address, [&] {
    return fmt::format("{} of {} bytes of {} memory at {:#x}, not a multiple of {}",
                       verb(access.kind), access.bytes, name_of(access.space), address, alignment);
  });
  return true;
}

void report_outside(Check check, Warp& warp, const Instruction& in, uint32_t lane,
                    const Access& access, uint64_t address, uint64_t begin, uint64_t end) {
  warp.report(check, in, lane, window_of(access.space) + address, [&] {
    return fmt::format("{} of {} bytes of {} memory at {:#x}, outside [{:#x}, {:#x})",
                       verb(access.kind), access.bytes, name_of(access.space), address, begin, end);
  });
}

std::string describe_global(const GlobalMemory& memory, const Access& access, uint64_t address) {
  std::string text = fmt::format("{} of {} bytes of global memory at {:#x}", verb(access.kind),
                                 access.bytes, address);
  const GlobalMemory::Allocation* near = memory.nearest(address);
  if (near == nullptr) return text + ", where nothing is allocated";
  if (address < near->address) {
    return text + fmt::format(", {} bytes before \"{}\" of {} bytes", near->address - address,
                              near->label, near->bytes);
  }
  return text + fmt::format(", at byte {} of \"{}\", which has {}", address - near->address,
                            near->label, near->bytes);
}

// --- one space each: sets out[lane], returns the lanes that are fine ---

uint32_t locate_global(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                       const LaneAddresses& addresses, LanePointers& out) {
  GlobalMemory& memory = warp.launch().memory;
  uint32_t good = mask;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    GlobalMemory::Allocation* allocation = warp.last_allocation;
    if (allocation == nullptr || !allocation->contains(address, access.bytes)) {
      allocation = memory.find(address);
    }
    bool ok = allocation != nullptr && allocation->contains(address, access.bytes);
    if (!ok) {
      warp.report(Check::global_bounds, in, lane, address,
                  [&] { return describe_global(memory, access, address); });
    } else if (misaligned(Check::global_alignment, warp, in, lane, access, address)) {
      ok = false;
    } else if (allocation->read_only && access.kind != AccessKind::read) {
      warp.report(Check::constant_store, in, lane, address, [&] {
        return fmt::format("{} of \"{}\"", verb(access.kind), allocation->label);
      });
      ok = false;
    }
    if (ok) {
      warp.last_allocation = allocation;
      out[lane] = allocation->data.data() + (address - allocation->address);
    } else {
      good &= ~(1U << lane);
      out[lane] = scratch(lane);
    }
  }
  return good;
}

uint32_t locate_shared(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                       const LaneAddresses& addresses, LanePointers& out) {
  auto& blocks = warp.block().cluster().blocks();
  uint32_t good = mask;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    const uint64_t rank_bits = address >> kClusterRankShift;
    const uint64_t rank = rank_bits == 0 ? warp.block().rank() : rank_bits - 1;
    const uint64_t offset = (address & ((1U << kClusterRankShift) - 1)) - kSharedBase;
    const uint64_t size = warp.block().shared().bytes();
    if (rank >= blocks.size() || offset >= size || access.bytes > size - offset) {
      report_outside(Check::shared_bounds, warp, in, lane, access, address, kSharedBase,
                     kSharedBase + size);
    } else if (rank != warp.block().rank() && blocks[rank]->has_ended()) {
      warp.report(Check::ended_block, in, lane, kSharedWindow + address, [&] {
        return fmt::format("{} of the shared memory of block {} of the cluster, which has ended",
                           verb(access.kind), rank);
      });
    } else if (!misaligned(Check::shared_alignment, warp, in, lane, access, address)) {
      out[lane] = blocks[rank]->shared().data() + offset;
      continue;
    }
    good &= ~(1U << lane);
    out[lane] = scratch(lane);
  }
  return good;
}

uint32_t locate_local(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                      const LaneAddresses& addresses, LanePointers& out) {
  uint32_t good = mask;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    if (address >= warp.local_bytes() || access.bytes > warp.local_bytes() - address) {
      report_outside(Check::local_bounds, warp, in, lane, access, address, 0, warp.local_bytes());
    } else if (!misaligned(Check::local_alignment, warp, in, lane, access, address)) {
      out[lane] = warp.local(lane) + address;
      continue;
    }
    good &= ~(1U << lane);
    out[lane] = scratch(lane);
  }
  return good;
}

uint32_t locate_parameter(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                          const LaneAddresses& addresses, LanePointers& out) {
  const std::vector<std::byte>& parameters = warp.launch().parameters;
  uint32_t good = mask;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t address = addresses[lane];
    if (address >= parameters.size() || access.bytes > parameters.size() - address) {
      report_outside(Check::parameter_bounds, warp, in, lane, access, address, 0,
                     parameters.size());
    } else if (access.kind != AccessKind::read) {
      warp.report(Check::parameter_store, in, lane, kParamWindow + address,
                  [] { return "a write to a kernel parameter"; });
    } else if (!misaligned(Check::parameter_alignment, warp, in, lane, access, address)) {
      out[lane] = const_cast<std::byte*>(parameters.data()) + address;  // read only, see above
      continue;
    }
    good &= ~(1U << lane);
    out[lane] = scratch(lane);
  }
  return good;
}

// --- records ---

void note_global(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                 const LaneAddresses& addresses) {
  if (!warp.checks_uninitialised()) return;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    if (access.kind != AccessKind::write) {
      note_global_read(warp, in, lane, addresses[lane], access.bytes);
    }
    if (access.kind == AccessKind::read) continue;
    GlobalMemory::Allocation* allocation = warp.last_allocation;
    if (!allocation->contains(addresses[lane], access.bytes)) {
      allocation = warp.launch().memory.find(addresses[lane]);
    }
    if (allocation->written.empty()) continue;
    std::memset(allocation->written.data() + (addresses[lane] - allocation->address), 1,
                access.bytes);
  }
}

void note_shared(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                 const LaneAddresses& addresses) {
  if (!warp.checks_shared()) return;
  auto& blocks = warp.block().cluster().blocks();
  uint32_t left = mask;
  while (left != 0) {  // once, unless the lanes address several blocks of a cluster
    const uint64_t rank_bits =
        addresses[static_cast<size_t>(std::countr_zero(left))] >> kClusterRankShift;
    uint32_t same = 0;
    std::array<uint32_t, kWarpSize> offsets = {};
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((left >> lane & 1) == 0 || addresses[lane] >> kClusterRankShift != rank_bits) continue;
      same |= 1U << lane;
      offsets[lane] = shared_offset(addresses[lane]);
    }
    left &= ~same;
    SharedMemory& shared = rank_bits == 0 ? warp.block().shared() : blocks[rank_bits - 1]->shared();
    if (access.kind != AccessKind::write) {
      shared.note_read(warp, in, same, offsets.data(), access.bytes);
    }
    if (access.kind != AccessKind::read) {
      shared.note_write(warp, in, same, offsets.data(), access.bytes);
    }
  }
}

uint32_t locate_in(Space space, Warp& warp, const Instruction& in, uint32_t mask,
                   const Access& access, const LaneAddresses& addresses, LanePointers& out) {
  switch (space) {
    case Space::shared:
      return locate_shared(warp, in, mask, access, addresses, out);
    case Space::local:
      return locate_local(warp, in, mask, access, addresses, out);
    case Space::param:
      return locate_parameter(warp, in, mask, access, addresses, out);
    default:
      return locate_global(warp, in, mask, access, addresses, out);
  }
}

void resolve_in(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                const LaneAddresses& addresses, LanePointers& out) {
  const uint32_t good = locate_in(access.space, warp, in, mask, access, addresses, out);
  if (good == 0) return;
  if (access.space == Space::shared) {
    note_shared(warp, in, good, access, addresses);
  } else if (access.space == Space::global || access.space == Space::constant) {
    note_global(warp, in, good, access, addresses);
  }
  if (warp.launch().options.profile) count_access(warp, in, good, access, addresses);
}

Space space_of_generic(uint64_t address) {
  if (address < kSharedWindow) return Space::global;
  if (address - kSharedWindow < kWindowBytes) return Space::shared;
  if (address - kLocalWindow < kWindowBytes) return Space::local;
  if (address - kParamWindow < kWindowBytes) return Space::param;
  return Space::global;
}

// Calls f(lanes, access, addresses) for the lanes of each space that generic addresses point to.
template <class F>
void split_generic(uint32_t mask, Access access, const LaneAddresses& addresses, F f) {
  uint32_t left = mask;
  while (left != 0) {
    access.space = space_of_generic(addresses[static_cast<size_t>(std::countr_zero(left))]);
    const uint64_t window = window_of(access.space);
    LaneAddresses offsets = {};
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((left >> lane & 1) == 0 || space_of_generic(addresses[lane]) != access.space) continue;
      same |= 1U << lane;
      offsets[lane] = addresses[lane] - window;
    }
    left &= ~same;
    f(same, access, offsets);
  }
}

}  // namespace

void lane_addresses(Warp& warp, Row row, bool wide, int64_t offset, LaneAddresses& out) {
  const auto added = static_cast<uint64_t>(offset);
  if (wide) {
    const auto* base = warp.row<uint64_t>(row);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) out[lane] = base[lane] + added;
  } else {
    const auto* base = warp.row<uint32_t>(row);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      out[lane] = static_cast<uint32_t>(base[lane] + added);
    }
  }
}

void lane_addresses(Warp& warp, const Instruction& in, size_t index, LaneAddresses& out) {
  lane_addresses(warp, in.op[index], in.access.wide_address, in.immediate, out);
}

void note_global_read(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                      uint32_t bytes) {
  if (!warp.checks_uninitialised() || bytes == 0) return;
  GlobalMemory::Allocation* allocation = warp.last_allocation;
  if (allocation == nullptr || !allocation->contains(address, bytes)) {
    allocation = warp.launch().memory.find(address);
  }
  if (allocation->written.empty()) return;
  const uint8_t* written = allocation->written.data() + (address - allocation->address);
  if (std::memchr(written, 0, bytes) == nullptr) return;
  warp.report(Check::global_written, in, lane, address, [&] {
    return fmt::format("a read of {} bytes at byte {} of \"{}\", which nobody has written", bytes,
                       address - allocation->address, allocation->label);
  });
}

uint32_t locate(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
                const LaneAddresses& addresses, LanePointers& out) {
  if (access.space != Space::generic) {
    return locate_in(access.space, warp, in, mask, access, addresses, out);
  }
  uint32_t good = 0;
  split_generic(mask, access, addresses,
                [&](uint32_t lanes, const Access& in_space, const LaneAddresses& offsets) {
                  good |= locate_in(in_space.space, warp, in, lanes, in_space, offsets, out);
                });
  return good;
}

void resolve(Warp& warp, const Instruction& in, uint32_t mask, const Access& access,
             const LaneAddresses& addresses, LanePointers& out) {
  if (access.space != Space::generic) return resolve_in(warp, in, mask, access, addresses, out);
  split_generic(mask, access, addresses,
                [&](uint32_t lanes, const Access& in_space, const LaneAddresses& offsets) {
                  resolve_in(warp, in, lanes, in_space, offsets, out);
                });
}

}  // namespace gemmtune::ptxsim
