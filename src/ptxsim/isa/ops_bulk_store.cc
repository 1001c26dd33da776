// Bulk copies from shared into global memory, and their groups. Source: PTX ISA, "cp.async.bulk",
// "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor", "cp.async.bulk.wait_group".
//
// Groups belong to a lane. With AsyncMode::early shared memory is read and global memory written at
// once, with late when the lane waits; in both, whoever writes the bytes in between gets a finding.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/isa/address_rows.h"
#include "ptxsim/isa/bulk.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/bulk_store.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

// The list: source, then the tensor or the plain destination's address. Instruction::immediate:
// dimensions, 0 of plain bytes. op[1]: their number. variant: whether it adds.

uint32_t note_read(Warp& warp, const Instruction& in, uint32_t lane, uint32_t offset,
                   uint32_t bytes) {
  const uint32_t read =
      warp.block().cluster().async_reads().begin(warp.cluster_index(), warp.index_of(in));
  for (uint32_t at = offset; warp.checks_shared() && at < offset + bytes; at += 16) {
    warp.block().shared().note_async_read(warp, in, lane, &at, 1, read);
  }
  return read;
}

bool store_for_lane(Warp& warp, const Instruction& in, uint32_t lane) {
  const Row* rows = warp.program().rows.data() + in.list;
  BulkStore store;
  const auto dimensions = static_cast<uint32_t>(in.immediate);
  const Row* target = rows + kAddressRows;
  const bool read = dimensions == 0 ? read_plain(warp, in, lane, target, true, store.box)
                                    : read_tensor(warp, in, lane, target, dimensions, store.box);
  if (!read) return false;
  if (in.variant != 0 && store.box.element_bytes != sizeof(float)) {
    warp.report(Check::tensor_map, in, lane, 0,
                [] { return "only sums of f32 elements are simulated"; });
    return false;
  }
  const uint64_t from = shared_address(warp, rows, lane);
  if (!check_shared_box(warp, in, lane, from, store.box, dimensions == 0, false) ||
      !check_tensor_bounds(warp, in, lane, store.box, true)) {
    return false;
  }
  count_bulk(warp, in, store.box);
  store.in = &in;
  store.lane = lane;
  store.group = warp.bulk_groups[lane];
  store.adds = in.variant != 0;
  store.offset = shared_offset(from);
  store.read = note_read(warp, in, lane, store.offset, static_cast<uint32_t>(footprint(store.box)));
  if (warp.launch().options.async == AsyncMode::early) move_bytes(warp.block(), store);
  warp.bulk_stores.push_back(store);
  return true;
}

Step execute_store(Warp& warp, const Instruction& in, uint32_t mask) {
  bool good = true;
  for_lanes(mask, [&](uint32_t lane) { good = good && store_for_lane(warp, in, lane); });
  return good ? Step::next : Step::fault;
}

Step execute_commit(Warp& warp, const Instruction& /*in*/, uint32_t mask) {
  for_lanes(mask, [&](uint32_t lane) { ++warp.bulk_groups[lane]; });
  return Step::next;
}

// Instruction::immediate: how many of a lane's latest groups may stay on their way.
Step execute_wait(Warp& warp, const Instruction& in, uint32_t mask) {
  std::erase_if(warp.bulk_stores, [&](const BulkStore& store) {
    const bool mine = (mask >> store.lane & 1) != 0;
    if (!mine || store.group + in.immediate >= warp.bulk_groups[store.lane]) return false;
    finish(warp, store);
    return true;
  });
  return Step::next;
}

bool decode_groups(DecodeContext& c) {
  if (c.has("commit_group")) {
    return c.only({"async", "bulk", "commit_group"}) && c.operand_count(0, 0) &&
           c.emit(execute_commit);
  }
  if (!c.only({"async", "bulk", "wait_group", "read"}) || !c.operand_count(1, 1) ||
      !c.constant(c.operand(0), c.out.immediate)) {
    return false;
  }
  return c.out.immediate >= 0 ? c.emit(execute_wait) : c.fail("a negative count");
}

bool only_known(DecodeContext& c) {
  const bool reduces = c.has("reduce");
  if (reduces && !(c.has("tensor") && c.has("add"))) return c.unknown();
  return c.only({"reduce", "add", "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "global",
                 "shared::cta", "tile", "bulk_group", "L2::cache_hint"}) &&
         (c.has("bulk_group") || c.unknown());
}

}  // namespace

bool decode_bulk_store(DecodeContext& c) {
  if (c.has("commit_group") || c.has("wait_group")) return decode_groups(c);
  if (!only_known(c)) return false;
  const bool tensor = c.has("tensor");
  const size_t count = (tensor ? 2 : 3) + (c.has("L2::cache_hint") ? 1 : 0);
  if (!c.operand_count(count, count)) return false;
  const uint32_t dimensions = dimensions_of(c);
  if (tensor != (dimensions != 0)) return c.unknown();
  c.out.op[1] = kNoRow;
  c.out.variant = c.has("reduce") ? 1 : 0;
  if (!append_address(c, c.operand(1), Space::shared)) return false;
  if (tensor) {
    if (!append_tensor(c, c.operand(0), dimensions)) return false;
  } else {
    if (!append_address(c, c.operand(0), Space::global)) return false;
    c.out.op[1] = c.source(c.operand(2), Type::u32);
    if (c.out.op[1] == kNoRow) return false;
  }
  c.out.immediate = dimensions;
  return c.emit(execute_store);
}

}  // namespace gemmtune::ptxsim
