// Clusters: barrier.cluster, mapa, getctarank. Source: PTX ISA, "barrier.cluster", "mapa",
// "getctarank".
#include "ptxsim/machine/cluster.h"

#include <fmt/format.h>

#include <bit>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/barrier.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint16_t kAligned = 1;
constexpr uint16_t kRelaxed = 2;

bool all_lanes_here(Warp& warp, const Instruction& in, uint32_t mask) {
  if ((in.variant & kAligned) == 0 || mask == warp.live_lanes()) return true;
  warp.report(Check::warp_at_cluster_barrier, in, static_cast<uint32_t>(std::countr_zero(mask)), 0,
              [&] {
                return fmt::format("only lanes {:#010x} of warp {} are at the cluster's barrier",
                                   mask, warp.index());
              });
  return false;
}

Step execute_arrive(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!all_lanes_here(warp, in, mask)) return Step::fault;
  arrive_at_cluster_barrier(warp, mask, (in.variant & kRelaxed) == 0);
  return Step::next;
}

Step execute_wait(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!all_lanes_here(warp, in, mask)) return Step::fault;
  if (pass_cluster_barrier(warp)) return Step::next;
  warp.barrier_to_wait_for = kClusterBarrier;
  return Step::wait;
}

uint64_t map_generic(uint64_t address, uint32_t rank) {
  return kSharedWindow + address_in_rank(static_cast<uint32_t>(address - kSharedWindow), rank);
}

bool decode_mapa(DecodeContext& c) {
  if (!c.only({"shared::cluster"})) return false;
  if (c.type() == Type::u32) {
    return c.emit(lanewise<address_in_rank, uint32_t, uint32_t, uint32_t>, Type::u32,
                  {Type::u32, Type::u32});
  }
  if (c.type() != Type::u64) return c.unknown();
  if (c.has("shared::cluster")) return c.unknown("with a 64-bit shared address");
  return c.emit(lanewise<map_generic, uint64_t, uint64_t, uint32_t>, Type::u64,
                {Type::u64, Type::u32});
}

// The block's own addresses have no rank in them.
template <class T>
Step execute_rank(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = warp.row<T>(in.op[1]);
  auto* d = warp.row<uint32_t>(in.op[0]);
  for_lanes(mask, [&](uint32_t lane) {
    const uint32_t rank = static_cast<uint32_t>(a[lane]) >> kClusterRankShift;
    d[lane] = rank == 0 ? warp.block().rank() : rank - 1;
  });
  return Step::next;
}

bool decode_rank(DecodeContext& c) {
  if (!c.only({"shared::cluster"})) return false;
  if (c.type() == Type::u32) return c.emit(execute_rank<uint32_t>, Type::u32, {Type::u32});
  return c.type() == Type::u64 ? c.emit(execute_rank<uint64_t>, Type::u32, {Type::u64})
                               : c.unknown();
}

}  // namespace

bool decode_cluster_barrier(DecodeContext& c) {
  if (!c.only({"cluster", "arrive", "wait", "aligned", "release", "relaxed", "acquire"}) ||
      !c.operand_count(0, 0)) {
    return false;
  }
  c.out.variant =
      static_cast<uint16_t>((c.has("aligned") ? kAligned : 0) | (c.has("relaxed") ? kRelaxed : 0));
  if (c.has("arrive")) return c.emit(execute_arrive);
  return c.has("wait") ? c.emit(execute_wait) : c.unknown();
}

void add_clusters(InstructionSet& set) {
  set.add("mapa", decode_mapa, InstructionClass::move);
  set.add("getctarank", decode_rank, InstructionClass::move);
}

}  // namespace gemmtune::ptxsim
