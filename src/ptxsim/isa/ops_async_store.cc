// Stores into a block's shared memory that an mbarrier of that block counts. Source: PTX ISA,
// "st.async".
//
// With AsyncMode::early the bytes are there, and counted, at once; with late when somebody waits at
// the mbarrier or nobody else can go on.
#include <algorithm>
#include <cstring>

#include "ptxsim/isa/address_rows.h"
#include "ptxsim/isa/async_store.h"
#include "ptxsim/isa/find_mbarrier.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

namespace {

// The list: destination, mbarrier, then the rows of what is stored.

template <class T>
void copy_elements(Warp& warp, const Instruction& in, uint32_t lane, BulkCopy& store) {
  const Row* rows = warp.program().rows.data() + in.list + 2 * kAddressRows;
  for (uint32_t i = 0; i < in.access.elements; ++i) {
    const T value = warp.row<T>(rows[i])[lane];
    std::memcpy(&store.stored[i * sizeof(T)], &value, sizeof(T));
  }
}

bool store_for_lane(Warp& warp, const Instruction& in, uint32_t lane) {
  const Row* rows = warp.program().rows.data() + in.list;
  BulkCopy store;
  store.stored_bytes = uint32_t{in.access.element_bytes} * in.access.elements;
  const SharedPlace place =
      locate_shared_place(warp, in, lane, shared_address(warp, rows, lane), store.stored_bytes);
  if (place.block == nullptr) return false;
  const uint64_t at = shared_address(warp, rows + kAddressRows, lane);
  const FoundMBarrier found = find_mbarrier(warp, in, lane, at);
  if (found.barrier == nullptr) return false;
  if (found.block != place.block) {
    report_mbarrier(warp, in, lane, at, "an mbarrier of another block than the destination's");
    return false;
  }
  if (in.access.element_bytes == sizeof(uint64_t)) {
    copy_elements<uint64_t>(warp, in, lane, store);
  } else {
    copy_elements<uint32_t>(warp, in, lane, store);
  }
  store.rank = place.block->rank();
  store.offset = place.offset;
  store.barrier_offset = found.barrier->offset;
  start(warp, in, lane, store, *found.barrier);
  return true;
}

Step execute_async_store(Warp& warp, const Instruction& in, uint32_t mask) {
  bool good = true;
  for_lanes(mask, [&](uint32_t lane) { good = good && store_for_lane(warp, in, lane); });
  return good ? Step::next : Step::fault;
}

}  // namespace

bool decode_async_store(DecodeContext& c) {
  if (!c.only({"async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "v2", "v4"}) ||
      !c.has("shared::cluster") || !c.has("mbarrier::complete_tx::bytes") ||
      !c.operand_count(3, 3)) {
    return c.unknown();
  }
  const Type type = c.type();
  const uint32_t bytes = type == Type::none ? 0 : size_of(type);
  const uint8_t elements = c.has("v2") ? 2 : c.has("v4") ? 4 : 1;
  if ((bytes != sizeof(uint32_t) && bytes != sizeof(uint64_t)) || bytes * elements > 16) {
    return c.unknown();
  }
  c.program().uses_async_proxy = true;
  c.out.reports_undefined = true;
  if (!append_address(c, c.operand(0), Space::shared) ||
      !append_address(c, c.operand(2), Space::shared)) {
    return false;
  }
  if (DecodeContext::elements(c.operand(1)).size() != elements) {
    return c.fail("a wrong number of registers");
  }
  if (!c.list_sources(c.operand(1), type)) return false;
  c.out.access.element_bytes = static_cast<uint8_t>(bytes);
  c.out.access.elements = elements;
  uint32_t& granule = c.program().shared_granule;
  granule = std::min(granule, bytes);
  return c.emit(execute_async_store);
}

}  // namespace gemmtune::ptxsim
