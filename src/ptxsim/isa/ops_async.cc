// cp.async and its groups. Source: PTX ISA, "Asynchronous copy", "cp.async".
//
// Groups belong to a lane. With AsyncMode::early the bytes are there at once, with late when the
// lane waits for them; in both, whoever touches them in between gets a missing_async_wait.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/bulk.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

// op[0]: destination, op[1]: source, op[2]: source bytes or kNoRow, op[3]: ignore-src or kNoRow.
// immediate: the two offsets. access.element_bytes: copied bytes.
constexpr uint16_t kWideDestination = 1;
constexpr uint16_t kWideSource = 2;
constexpr uint16_t kIgnoreNegated = 4;

void move_bytes(const AsyncCopy& copy, uint32_t lane, std::byte* shared) {
  std::byte* to = shared + copy.destination[lane];
  const uint32_t given = copy.source_bytes[lane];
  if (given > 0) std::memcpy(to, copy.source[lane], given);
  std::memset(to + given, 0, copy.bytes - given);
}

// The bytes that each lane reads: fewer than it writes when the instruction says so.
void source_sizes(Warp& warp, const Instruction& in, uint32_t mask, AsyncCopy& copy) {
  uint32_t ignored = 0;
  if (in.op[3] != kNoRow) {
    ignored = warp.predicate(in.op[3]);
    if ((in.variant & kIgnoreNegated) != 0) ignored = ~ignored;
  }
  const uint32_t* sizes = in.op[2] != kNoRow ? warp.row<uint32_t>(in.op[2]) : nullptr;
  for_lanes(mask, [&](uint32_t lane) {
    uint32_t size = sizes != nullptr ? sizes[lane] : copy.bytes;
    if (size > copy.bytes) {
      warp.report(Check::copy_size, in, lane, 0,
                  [] { return "a cp.async that reads more bytes than it writes"; });
      size = copy.bytes;
    }
    copy.source_bytes[lane] = (ignored >> lane & 1) != 0 ? 0 : size;
  });
}

// Finds the source bytes lane by lane, since sizes differ; drops the lanes whose source is wrong.
uint32_t locate_sources(Warp& warp, const Instruction& in, uint32_t mask,
                        const LaneAddresses& addresses, AsyncCopy& copy) {
  uint32_t good = mask;
  LanePointers from = {};
  for_lanes(mask, [&](uint32_t lane) {
    if (copy.source_bytes[lane] == 0) return;
    const Access access{Space::global, AccessKind::read, copy.source_bytes[lane], copy.bytes};
    if (locate(warp, in, 1U << lane, access, addresses, from) == 0) {
      good &= ~(1U << lane);
      return;
    }
    note_global_read(warp, in, lane, addresses[lane], copy.source_bytes[lane]);
    copy.source[lane] = from[lane];
  });
  if (warp.launch().options.profile) {
    count_access(warp, in, good, {Space::global, AccessKind::read, copy.bytes, 0}, addresses);
  }
  return good;
}

Step execute_copy(Warp& warp, const Instruction& in, uint32_t mask) {
  AsyncCopy copy;
  copy.in = &in;
  copy.bytes = in.access.element_bytes;
  LaneAddresses to;
  LaneAddresses from;
  LanePointers ignored;
  lane_addresses(warp, in.op[0], (in.variant & kWideDestination) != 0,
                 static_cast<int32_t>(in.immediate), to);
  lane_addresses(warp, in.op[1], (in.variant & kWideSource) != 0, in.immediate >> 32, from);
  source_sizes(warp, in, mask, copy);
  mask = locate(warp, in, mask, {Space::shared, AccessKind::write, copy.bytes, 0}, to, ignored);
  if (warp.launch().options.profile) count_copy_destination(warp, in, mask, copy.bytes, to);
  mask = locate_sources(warp, in, mask, from, copy);
  copy.mask = mask;
  if (mask == 0) return Step::next;
  SharedMemory& shared = warp.block().shared();
  for_lanes(mask, [&](uint32_t lane) {
    copy.destination[lane] = static_cast<uint32_t>(to[lane]) - kSharedBase;
    copy.group[lane] = warp.committed_groups[lane];
    shared.begin_async_write(warp, in, lane, copy.destination[lane], copy.bytes);
    if (warp.launch().options.async == AsyncMode::early) move_bytes(copy, lane, shared.data());
  });
  warp.copies.push_back(copy);
  return Step::next;
}

Step execute_commit(Warp& warp, const Instruction& /*in*/, uint32_t mask) {
  for_lanes(mask, [&](uint32_t lane) { ++warp.committed_groups[lane]; });
  return Step::next;
}

// Instruction::immediate: how many of a lane's latest groups may stay on their way; negative: none,
// committed or not.
Step execute_wait(Warp& warp, const Instruction& in, uint32_t mask) {
  SharedMemory& shared = warp.block().shared();
  for (AsyncCopy& copy : warp.copies) {
    for_lanes(copy.mask & mask, [&](uint32_t lane) {
      const bool done =
          in.immediate < 0 || copy.group[lane] + in.immediate < warp.committed_groups[lane];
      if (!done) return;
      if (warp.launch().options.async == AsyncMode::late) move_bytes(copy, lane, shared.data());
      shared.end_async_write(warp, *copy.in, lane, copy.destination[lane], copy.bytes);
      copy.mask &= ~(1U << lane);
    });
  }
  std::erase_if(warp.copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
  return Step::next;
}

bool decode_copy(DecodeContext& c) {
  if (!c.only({"async", "ca", "cg", "shared", "shared::cta", "global", "L2::cache_hint", "L2::64B",
               "L2::128B", "L2::256B"}) ||
      !c.operand_count(3, 5)) {
    return false;
  }
  int64_t bytes = 0;
  if (!c.constant(c.operand(2), bytes)) return false;
  if (bytes != 16 && (c.has("cg") || (bytes != 4 && bytes != 8))) return c.fail("a wrong size");
  if (!c.address(c.operand(0), 0)) return false;
  const int64_t to_offset = c.out.immediate;
  c.out.variant = c.out.access.wide_address ? kWideDestination : 0;
  if (!c.address(c.operand(1), 1)) return false;
  if (c.out.access.wide_address) c.out.variant |= kWideSource;
  const int64_t from_offset = c.out.immediate;
  if (to_offset != static_cast<int32_t>(to_offset) ||
      from_offset != static_cast<int32_t>(from_offset)) {
    return c.unknown("with an offset beyond 32 bits");
  }
  c.out.immediate = static_cast<int64_t>(static_cast<uint64_t>(from_offset) << 32 |
                                         static_cast<uint32_t>(to_offset));
  c.out.access.element_bytes = static_cast<uint8_t>(bytes);
  c.out.reports_undefined = true;
  c.out.op[2] = c.out.op[3] = kNoRow;
  const size_t optional = c.operand_count() - (c.has("L2::cache_hint") ? 1 : 0);
  if (optional >= 4) {
    const ast::Operand& extra = c.operand(3);
    const Symbol* symbol =
        extra.kind == ast::Operand::Kind::name ? c.decoder().find_register(extra.name) : nullptr;
    if (symbol != nullptr && symbol->type == Type::pred) {
      bool negated = false;
      c.out.op[3] = c.predicate_source(extra, negated);
      if (negated) c.out.variant |= kIgnoreNegated;
    } else {
      c.out.op[2] = c.source(extra, Type::u32);
      if (c.out.op[2] == kNoRow) return false;
    }
  }
  return c.emit(execute_copy);
}

bool decode_cp(DecodeContext& c) {
  if (c.has("bulk")) return decode_bulk(c);
  if (!c.has("async") || c.has("mbarrier")) return c.unknown();
  if (c.has("commit_group")) {
    return c.only({"async", "commit_group"}) && c.operand_count(0, 0) && c.emit(execute_commit);
  }
  if (c.has("wait_all")) {
    c.out.immediate = -1;
    return c.only({"async", "wait_all"}) && c.operand_count(0, 0) && c.emit(execute_wait);
  }
  if (c.has("wait_group")) {
    if (!c.only({"async", "wait_group"}) || !c.operand_count(1, 1)) return false;
    if (!c.constant(c.operand(0), c.out.immediate)) return false;
    return c.out.immediate >= 0 ? c.emit(execute_wait) : c.fail("a negative count");
  }
  return decode_copy(c);
}

}  // namespace

void add_async_copies(InstructionSet& set) {
  set.add("cp", decode_cp, InstructionClass::async_copy);
}

}  // namespace gemmtune::ptxsim
