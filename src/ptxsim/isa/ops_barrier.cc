// bar, barrier, bar.warp.sync and fences. Source: PTX ISA, "Parallel Synchronization and
// Communication Instructions".
//
// Fences order nothing here: every access takes effect at once. One between the proxies counts for
// the check that it was not forgotten.
#include <fmt/format.h>

#include <bit>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/barrier.h"
#include "ptxsim/machine/cluster.h"

namespace gemmtune::ptxsim {

namespace {

// Instruction::op[4]: flags of the decoded form. op[1]: barrier, op[2]: threads, op[3]: predicate.
constexpr Row kAligned = 1;
constexpr Row kWaits = 2;
constexpr Row kHasCount = 4;

// The same value in all active lanes.
bool uniform(Warp& warp, const Instruction& in, uint32_t mask, Row row, uint32_t& value) {
  const auto* lanes = warp.row<uint32_t>(row);
  value = lanes[std::countr_zero(mask)];
  bool same = true;
  for_lanes(mask, [&](uint32_t lane) { same = same && lanes[lane] == value; });
  if (!same) {
    warp.report(Check::uniform_barrier, in, static_cast<uint32_t>(std::countr_zero(mask)), 0,
                [] { return "a barrier or count that differs between the lanes of a warp"; });
  }
  return same;
}

Step report_divergence(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t missing = warp.live_lanes() & ~mask;
  warp.report(Check::warp_at_barrier, in, static_cast<uint32_t>(std::countr_zero(mask)), 0, [&] {
    return fmt::format("lanes {:#010x} of warp {} are at the barrier, lanes {:#010x} are elsewhere",
                       mask, warp.index(), missing);
  });
  return Step::fault;
}

Step execute_barrier(Warp& warp, const Instruction& in, uint32_t mask) {
  const bool aligned = (in.op[4] & kAligned) != 0;
  const bool waits = (in.op[4] & kWaits) != 0;
  if (aligned && mask != warp.live_lanes()) return report_divergence(warp, in, mask);
  uint32_t id = 0;
  uint32_t threads = 0;
  if (!uniform(warp, in, mask, in.op[1], id)) return Step::fault;
  if ((in.op[4] & kHasCount) != 0 && !uniform(warp, in, mask, in.op[2], threads)) {
    return Step::fault;
  }
  const uint32_t most = warp.launch().warps_per_block * kWarpSize;
  if (id >= kBarriers || threads % kWarpSize != 0 || threads > most ||
      ((in.op[4] & kHasCount) != 0 && threads == 0)) {
    warp.report(Check::barrier_range, in, static_cast<uint32_t>(std::countr_zero(mask)), 0,
                [&] { return fmt::format("barrier {} for {} threads", id, threads); });
    return Step::fault;
  }
  switch (arrive_at_barrier(warp, in, mask, id, threads, waits)) {
    case Arrival::invalid:
      return Step::fault;
    case Arrival::opened:
      return Step::next;
    case Arrival::waiting:
      break;
  }
  warp.barrier_to_wait_for = id;
  return waits ? Step::wait : Step::next;
}

Step execute_warp_barrier(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = warp.row<uint32_t>(in.op[0])[std::countr_zero(mask)];
  if (!warp.gather(in, members, true, mask)) return Step::rendezvous;
  // Partial masks are taken as the whole warp: a race between the other lanes may be missed.
  warp.clocks().warp_barrier(warp.cluster_index());
  return Step::next;
}

bool source(DecodeContext& c, size_t operand, size_t index) {
  c.out.op[index] = c.source(c.operand(operand), Type::u32);
  return c.out.op[index] != kNoRow;
}

// bar.red.popc.u32 d, a{, b}, {!}c;  bar.red.and.pred p, a{, b}, {!}c;
bool decode_reduction(DecodeContext& c, Row flags) {
  const size_t count = c.operand_count();
  if (count < 3 || count > 4) return c.fail("has a wrong number of operands");
  c.out.variant = c.has("popc") ? 1 : c.has("and") ? 2 : 3;
  c.out.op[0] = c.has("popc") ? c.destination(c.operand(0), Type::u32)
                              : c.predicate_destination(c.operand(0));
  bool negated = false;
  c.out.op[3] = c.predicate_source(c.operand(count - 1), negated);
  c.out.immediate = negated ? 1 : 0;
  if (c.out.op[0] == kNoRow || c.out.op[3] == kNoRow || !source(c, 1, 1)) return false;
  if (count == 4 && !source(c, 2, 2)) return false;
  c.out.op[4] = flags | (count == 4 ? kHasCount : 0);
  return c.emit(execute_barrier);
}

bool decode_barrier(DecodeContext& c) {
  if (c.has("cluster")) return decode_cluster_barrier(c);
  if (!c.only({"sync", "arrive", "red", "popc", "and", "or", "aligned", "cta", "warp"})) {
    return false;
  }
  if (c.has("warp")) {
    return c.has("sync") && c.operand_count(1, 1) && source(c, 0, 0) &&
           c.emit(execute_warp_barrier);
  }
  const bool aligned = c.in.opcode == "bar" || c.has("aligned");
  const Row flags = (aligned ? kAligned : 0) | (c.has("arrive") ? 0 : kWaits);
  if (c.has("red")) return decode_reduction(c, flags);
  if (!c.operand_count(1, 2) || !source(c, 0, 1)) return false;
  if (c.operand_count() == 2 && !source(c, 1, 2)) return false;
  c.out.op[4] = flags | (c.operand_count() == 2 ? kHasCount : 0);
  return c.emit(execute_barrier);
}

Step execute_proxy_fence(Warp& warp, const Instruction& /*in*/, uint32_t /*mask*/) {
  warp.clocks().proxy_fence(warp.cluster_index());
  return Step::next;
}

// Source: PTX ISA, "fence.mbarrier_init", whose example is followed by a relaxed arrival.
Step execute_mbarrier_init_fence(Warp& warp, const Instruction& /*in*/, uint32_t /*mask*/) {
  warp.fenced_mbarriers = true;
  return Step::next;
}

bool decode_fence(DecodeContext& c) {
  if (c.in.opcode == "fence" && c.has("mbarrier_init")) c.out.execute = execute_mbarrier_init_fence;
  if (c.in.opcode == "fence" && c.has("proxy") && c.has("async"))
    c.out.execute = execute_proxy_fence;
  return c.only({"cta",
                 "cluster",
                 "gl",
                 "gpu",
                 "sys",
                 "sc",
                 "acq_rel",
                 "acquire",
                 "release",
                 "proxy",
                 "alias",
                 "async",
                 "global",
                 "shared::cta",
                 "shared::cluster",
                 "async::global",
                 "async::shared",
                 "async::generic",
                 "mbarrier_init",
                 "sync_restrict::shared::cta",
                 "sync_restrict::shared::cluster",
                 "proxy::async",
                 "proxy::alias",
                 "proxy::async::global",
                 "proxy::async::shared::cta"});
}

}  // namespace

void add_barriers(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::barrier;
  set.add("bar", decode_barrier, kClass);
  set.add("barrier", decode_barrier, kClass);
  set.add("membar", decode_fence, kClass);
  set.add("fence", decode_fence, kClass);
}

}  // namespace gemmtune::ptxsim
