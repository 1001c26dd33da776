// Bulk copies from global into shared memory. Source: PTX ISA, "cp.async.bulk",
// "cp.async.bulk.tensor".
//
// With AsyncMode::early the bytes are there, and counted on the mbarrier, at once; with late when
// somebody waits at the mbarrier or nobody else can go on.
#include <fmt/format.h>

#include <algorithm>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/isa/address_rows.h"
#include "ptxsim/isa/bulk.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

// The list: destination, mbarrier, then the tensor or the plain source's address.
// Instruction::immediate: dimensions, 0 of plain bytes. op[1]: their number.
// op[2]: the blocks of a multicast, or kNoRow.

// Into one block, whose mbarrier is at the same offset.
bool start_copy(Warp& warp, const Instruction& in, uint32_t lane, const BulkCopy& copy) {
  Cluster& cluster = warp.block().cluster();
  Block& block = *cluster.blocks()[copy.rank];
  const auto found = block.mbarriers().find(copy.barrier_offset);
  if (found == block.mbarriers().end()) {
    warp.report(Check::mbarrier_init, in, lane, kSharedWindow + kSharedBase + copy.barrier_offset,
                [&] {
                  return fmt::format("the copy completes on an mbarrier of block {} that is none",
                                     copy.rank);
                });
    return false;
  }
  start(warp, in, lane, copy, found->second);
  return true;
}

uint32_t rank_of(Warp& warp, uint64_t address) {
  const uint64_t bits = address >> kClusterRankShift;
  return bits == 0 ? warp.block().rank() : static_cast<uint32_t>(bits - 1);
}

bool copy_for_lane(Warp& warp, const Instruction& in, uint32_t lane) {
  const Row* rows = warp.program().rows.data() + in.list;
  BulkCopy copy;
  const auto dimensions = static_cast<uint32_t>(in.immediate);
  const Row* source = rows + 2 * kAddressRows;
  const bool read = dimensions == 0 ? read_plain(warp, in, lane, source, false, copy.box)
                                    : read_tensor(warp, in, lane, source, dimensions, copy.box);
  if (!read || !check_tensor_bounds(warp, in, lane, copy.box, false)) return false;
  count_bulk(warp, in, copy.box);
  const uint64_t to = shared_address(warp, rows, lane);
  const uint64_t at = shared_address(warp, rows + kAddressRows, lane);
  uint32_t ranks = 1U << rank_of(warp, to);
  if (in.op[2] != kNoRow) {
    ranks = warp.row<uint16_t>(in.op[2])[lane];
  } else if (rank_of(warp, at) != rank_of(warp, to)) {
    warp.report(Check::mbarrier_init, in, lane, kSharedWindow + at,
                [] { return "the mbarrier is in another block than the destination"; });
    return false;
  }
  for (; ranks != 0; ranks &= ranks - 1) {
    copy.rank = static_cast<uint32_t>(std::countr_zero(ranks));
    const uint32_t address = address_in_rank(static_cast<uint32_t>(to), copy.rank);
    if (!check_shared_box(warp, in, lane, address, copy.box, dimensions == 0, true)) return false;
    const SharedPlace barrier = locate_shared_place(
        warp, in, lane, address_in_rank(static_cast<uint32_t>(at), copy.rank), sizeof(uint64_t));
    if (barrier.block == nullptr) return false;
    copy.offset = shared_offset(address);
    copy.barrier_offset = barrier.offset;
    if (!start_copy(warp, in, lane, copy)) return false;
  }
  return true;
}

Step execute_copy(Warp& warp, const Instruction& in, uint32_t mask) {
  bool good = true;
  for_lanes(mask, [&](uint32_t lane) { good = good && copy_for_lane(warp, in, lane); });
  return good ? Step::next : Step::fault;
}

bool decode_load(DecodeContext& c) {
  if (!c.only({"async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared::cluster",
               "shared::cta", "global", "tile", "mbarrier::complete_tx::bytes",
               "multicast::cluster", "L2::cache_hint"})) {
    return false;
  }
  const bool tensor = c.has("tensor");
  const bool multicast = c.has("multicast::cluster");
  const size_t count = (tensor ? 3 : 4) + (multicast ? 1 : 0) + (c.has("L2::cache_hint") ? 1 : 0);
  if (!c.operand_count(count, count)) return false;
  const size_t barrier = tensor ? 2 : 3;
  const uint32_t dimensions = dimensions_of(c);
  if (tensor != (dimensions != 0)) return c.unknown();
  c.out.op[1] = c.out.op[2] = kNoRow;
  if (!append_address(c, c.operand(0), Space::shared) ||
      !append_address(c, c.operand(barrier), Space::shared)) {
    return false;
  }
  if (tensor) {
    if (!append_tensor(c, c.operand(1), dimensions)) return false;
  } else {
    if (!append_address(c, c.operand(1), Space::global)) return false;
    c.out.op[1] = c.source(c.operand(2), Type::u32);
    if (c.out.op[1] == kNoRow) return false;
  }
  if (multicast) {
    c.out.op[2] = c.source(c.operand(barrier + 1), Type::b16);
    if (c.out.op[2] == kNoRow) return false;
  }
  c.out.immediate = dimensions;
  return c.emit(execute_copy);
}

}  // namespace

bool decode_bulk(DecodeContext& c) {
  c.program().uses_async_proxy = true;
  c.out.reports_undefined = true;
  if (c.has("prefetch")) return true;  // a hint
  if (c.has("mbarrier::complete_tx::bytes") && c.has("global")) return decode_load(c);
  return decode_bulk_store(c);
}

}  // namespace gemmtune::ptxsim
