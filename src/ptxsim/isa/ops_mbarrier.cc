// mbarrier. Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
// A wait that would fail blocks its lanes until the phase is complete, or nobody else can go on;
// test_wait does the same as try_wait, which is one of the orders that a GPU may choose.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/address_rows.h"
#include "ptxsim/isa/find_mbarrier.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint32_t kBarrierBytes = 8;

// Instruction::variant
constexpr uint16_t kRelaxed = 1;
constexpr uint16_t kExpects = 2;  // bytes, in op[1]
constexpr uint16_t kHasCount = 4;
constexpr uint16_t kDrops = 8;
constexpr uint16_t kParity = 16;
constexpr uint16_t kCompletes = 32;

const Row* address_rows(Warp& warp, const Instruction& in) {
  return warp.program().rows.data() + in.list;
}

FoundMBarrier find_barrier(Warp& warp, const Instruction& in, uint32_t lane) {
  return find_mbarrier(warp, in, lane, shared_address(warp, address_rows(warp, in), lane));
}

// --- init, inval ---

void initialise(Warp& warp, const Instruction& in, uint32_t lane, uint32_t count) {
  const uint64_t address = shared_address(warp, address_rows(warp, in), lane);
  const SharedPlace place = locate_shared_place(warp, in, lane, address, kBarrierBytes);
  if (place.block == nullptr) return;
  if (count == 0 || count > kMostArrivals) {
    warp.report(Check::mbarrier_count, in, lane, kSharedWindow + address,
                [&] { return fmt::format("an mbarrier for {} arrivals", count); });
    return;
  }
  SharedMemory& shared = place.block->shared();
  if (place.block->mbarriers().contains(place.offset)) {
    report_mbarrier(warp, in, lane, address, "an mbarrier already, and not invalidated");
    shared.set_mbarrier(place.offset, false);
  }
  if (warp.checks_shared()) {
    uint32_t offsets[kWarpSize] = {};
    offsets[lane] = place.offset;
    shared.note_write(warp, in, 1U << lane, offsets, kBarrierBytes);
  }
  shared.set_mbarrier(place.offset, true);
  MBarrier barrier;
  barrier.offset = place.offset;
  barrier.expected = barrier.pending = count;
  barrier.component = warp.clocks().add_component();
  barrier.time = warp.clocks().start();
  barrier.initialising_warp = warp.cluster_index();
  barrier.initialised_at = warp.clocks().now(warp.cluster_index());
  place.block->mbarriers().insert_or_assign(place.offset, std::move(barrier));
}

Step execute_init(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* counts = warp.row<uint32_t>(in.op[1]);
  for_lanes(mask, [&](uint32_t lane) { initialise(warp, in, lane, counts[lane]); });
  return Step::next;
}

Step execute_invalidate(Warp& warp, const Instruction& in, uint32_t mask) {
  for_lanes(mask, [&](uint32_t lane) {
    const FoundMBarrier found = find_barrier(warp, in, lane);
    if (found.barrier == nullptr) return;
    const uint32_t offset = found.barrier->offset;
    found.block->shared().set_mbarrier(offset, false);
    found.block->mbarriers().erase(offset);
  });
  return Step::next;
}

// --- arrivals and bytes ---

void add_bytes(Warp& warp, const Instruction& in, uint32_t lane, MBarrier& barrier, int64_t bytes) {
  barrier.bytes += bytes;
  if (barrier.bytes <= kMostBytes && barrier.bytes >= -kMostBytes) return;
  warp.report(Check::mbarrier_count, in, lane, 0, [&] {
    return fmt::format("the mbarrier expects {} bytes, beyond 2^20 - 1", barrier.bytes);
  });
}

void arrive(Warp& warp, const Instruction& in, uint32_t lane, const FoundMBarrier& found,
            uint32_t count) {
  MBarrier& barrier = *found.barrier;
  if (count == 0 || count > barrier.pending) {
    warp.report(Check::mbarrier_count, in, lane, 0, [&] {
      return fmt::format("{} arrivals at an mbarrier whose phase {} waits for {} of {}", count,
                         barrier.phase, barrier.pending, barrier.expected);
    });
    count = std::min(count, barrier.pending);
  }
  barrier.pending -= count;
  if ((in.variant & kDrops) != 0) barrier.expected -= std::min(count, barrier.expected);
  if ((in.variant & kRelaxed) == 0) {
    warp.clocks().release_by_lane(warp.cluster_index(), barrier.clock);
  }
  complete_phase_if_due(*found.block, barrier);
}

Step execute_arrive(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t* amounts = warp.row<uint32_t>(in.op[1]);
  auto* states = warp.row<uint64_t>(in.op[0]);
  for_lanes(mask, [&](uint32_t lane) {
    const FoundMBarrier found = find_barrier(warp, in, lane);
    if (found.barrier == nullptr) return;
    if ((in.variant & kExpects) != 0) {
      add_bytes(warp, in, lane, *found.barrier, int64_t{amounts[lane]});
    }
    states[lane] = found.barrier->phase;
    arrive(warp, in, lane, found, (in.variant & kHasCount) != 0 ? amounts[lane] : 1);
  });
  return Step::next;
}

Step execute_bytes(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* amounts = warp.row<uint32_t>(in.op[1]);
  for_lanes(mask, [&](uint32_t lane) {
    const FoundMBarrier found = find_barrier(warp, in, lane);
    if (found.barrier == nullptr) return;
    const bool completes = (in.variant & kCompletes) != 0;
    const int64_t bytes = amounts[lane];
    add_bytes(warp, in, lane, *found.barrier, completes ? -bytes : bytes);
    if (completes) complete_phase_if_due(*found.block, *found.barrier);
  });
  return Step::next;
}

// --- waits ---

bool has_passed(Warp& warp, const Instruction& in, uint32_t lane, const MBarrier& barrier) {
  if ((in.variant & kParity) == 0) return barrier.phase > warp.row<uint64_t>(in.op[1])[lane];
  return barrier.has_passed(warp.row<uint32_t>(in.op[1])[lane] & 1);
}

uint32_t parity_of(Warp& warp, const Instruction& in, uint32_t lane) {
  return (in.variant & kParity) != 0
             ? warp.row<uint32_t>(in.op[1])[lane]
             : static_cast<uint32_t>(warp.row<uint64_t>(in.op[1])[lane] & 1);
}

// The lane goes on: what others released is in its past.
void pass(Warp& warp, const Instruction& in, uint32_t lane, const MBarrier& barrier) {
  if ((in.variant & kRelaxed) == 0) {
    warp.clocks().acquire(warp.cluster_index(), barrier.opened_clock);
  }
  if (barrier.overtaken == 0) return;
  warp.report(Check::mbarrier_count, in, lane, kSharedWindow + kSharedBase + barrier.offset, [&] {
    return fmt::format(
        "phase {} was complete before {} copies that complete on the mbarrier: it "
        "expected too few bytes",
        barrier.phase - 1, barrier.overtaken);
  });
}

Step execute_wait(Warp& warp, const Instruction& in, uint32_t mask) {
  const bool timed_out = std::exchange(warp.poll_timed_out, false);
  uint32_t passed = 0;
  bool missing = false;
  bool first = true;
  uint32_t place = 0;
  for_lanes(mask, [&](uint32_t lane) {
    const FoundMBarrier found = find_barrier(warp, in, lane);
    missing = missing || found.barrier == nullptr;
    if (found.barrier == nullptr) return;
    const MBarrier& barrier = *found.barrier;
    const uint32_t rank = found.block->rank();
    Cluster& cluster = warp.block().cluster();
    if (!has_passed(warp, in, lane, barrier)) {
      cluster.bulk_copies().land(cluster, rank, barrier.offset);
    }
    if (has_passed(warp, in, lane, barrier)) {
      passed |= 1U << lane;
      pass(warp, in, lane, barrier);
    }
    const uint32_t own_place = place_of_mbarrier(rank, barrier.offset);
    place = first || place == own_place ? own_place : kSeveralMbarriers;
    first = false;
    warp.parity_to_wait_for = parity_of(warp, in, lane);
  });
  if (missing) return Step::fault;
  warp.mbarrier_to_wait_for = place;
  if (passed == 0 && !timed_out) return Step::poll;
  uint32_t& result = warp.predicate(in.op[0]);
  result = (result & ~mask) | passed;
  return Step::next;
}

// --- decoding ---

constexpr Space kNamed = Space::shared;

Space space_of(const DecodeContext& c) {
  return c.has("shared") || c.has("shared::cta") || c.has("shared::cluster") ? kNamed
                                                                             : Space::generic;
}

bool amount(DecodeContext& c, size_t operand, Type type) {
  c.out.op[1] = c.source(c.operand(operand), type);
  return c.out.op[1] != kNoRow;
}

bool decode_initialise(DecodeContext& c) {
  return c.operand_count(2, 2) && append_address(c, c.operand(0), space_of(c)) &&
         amount(c, 1, Type::u32) && c.emit(execute_init);
}

bool decode_arrive(DecodeContext& c) {
  const bool expects = c.has("expect_tx");
  if (!c.operand_count(expects ? 3 : 2, 3)) return false;
  c.out.op[0] = c.destination(c.operand(0), Type::b64);
  c.out.op[1] = 0;
  if (c.out.op[0] == kNoRow || !append_address(c, c.operand(1), space_of(c))) return false;
  if (expects) c.out.variant |= kExpects;
  if (c.has("arrive_drop")) c.out.variant |= kDrops;
  if (c.operand_count() == 3) {
    if (!expects) c.out.variant |= kHasCount;
    if (!amount(c, 2, Type::u32)) return false;
  }
  return c.emit(execute_arrive);
}

bool decode_bytes(DecodeContext& c) {
  if (c.has("complete_tx")) c.out.variant |= kCompletes;
  return c.operand_count(2, 2) && append_address(c, c.operand(0), space_of(c)) &&
         amount(c, 1, Type::u32) && c.emit(execute_bytes);
}

// The last operand may be a time limit, which means nothing here.
bool decode_wait(DecodeContext& c) {
  if (!c.operand_count(3, c.has("try_wait") ? 4 : 3)) return false;
  c.out.op[0] = c.predicate_destination(c.operand(0));
  if (c.out.op[0] == kNoRow || !append_address(c, c.operand(1), space_of(c))) return false;
  if (c.has("parity")) c.out.variant |= kParity;
  return amount(c, 2, c.has("parity") ? Type::u32 : Type::b64) && c.emit(execute_wait);
}

bool decode_mbarrier(DecodeContext& c) {
  if (!c.only({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx", "test_wait",
               "try_wait", "parity", "shared", "shared::cta", "shared::cluster", "cta", "cluster",
               "acquire", "release", "relaxed"}) ||
      c.type() != Type::b64) {
    return c.unknown();
  }
  c.program().uses_async_proxy = true;
  c.out.reports_undefined = true;
  c.out.variant = c.has("relaxed") ? kRelaxed : 0;
  if (c.has("init")) return decode_initialise(c);
  if (c.has("test_wait") || c.has("try_wait")) return decode_wait(c);
  if (c.has("arrive") || c.has("arrive_drop")) return decode_arrive(c);
  if (c.has("expect_tx") || c.has("complete_tx")) return decode_bytes(c);
  return c.has("inval") && c.operand_count(1, 1) && append_address(c, c.operand(0), space_of(c)) &&
         c.emit(execute_invalidate);
}

}  // namespace

void add_mbarriers(InstructionSet& set) {
  set.add("mbarrier", decode_mbarrier, InstructionClass::barrier);
}

}  // namespace gemmtune::ptxsim
