#include "ptxsim/isa/address_rows.h"

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

constexpr Row kWide = 1;
constexpr Row kSpaceShift = 1;

Space space_of(const Row* rows) {
  return static_cast<Space>(rows[2] >> kSpaceShift);
}

uint64_t plain_address(Warp& warp, const Row* rows, uint32_t lane) {
  const auto offset = static_cast<uint64_t>(int64_t{static_cast<int32_t>(rows[1])});
  if ((rows[2] & kWide) != 0) return warp.row<uint64_t>(rows[0])[lane] + offset;
  return static_cast<uint32_t>(warp.row<uint32_t>(rows[0])[lane] + offset);
}

}  // namespace

bool append_address(DecodeContext& c, const ast::Operand& operand, Space space) {
  const Row first = c.out.op[0];
  c.out.access.space = space;
  if (!c.address(operand, 0)) return false;
  const int64_t offset = c.out.immediate;
  if (offset != static_cast<int32_t>(offset)) return c.unknown("with an offset beyond 32 bits");
  c.append_row(c.out.op[0]);
  c.append_row(static_cast<Row>(offset));
  c.append_row((c.out.access.wide_address ? kWide : 0) | static_cast<Row>(c.out.access.space)
                                                             << kSpaceShift);
  c.out.op[0] = first;
  c.out.immediate = 0;
  return true;
}

uint64_t shared_address(Warp& warp, const Row* rows, uint32_t lane) {
  const uint64_t address = plain_address(warp, rows, lane);
  return space_of(rows) == Space::generic ? address - kSharedWindow : address;
}

uint64_t generic_address(Warp& warp, const Row* rows, uint32_t lane) {
  const uint64_t address = plain_address(warp, rows, lane);
  switch (space_of(rows)) {
    case Space::shared:
      return address + kSharedWindow;
    case Space::local:
      return address + kLocalWindow;
    case Space::param:
      return address + kParamWindow;
    default:
      return address;
  }
}

SharedPlace locate_shared_place(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                                uint32_t bytes) {
  LaneAddresses addresses = {};
  LanePointers ignored;
  addresses[lane] = address;
  const Access access{Space::shared, AccessKind::update, bytes, 0};
  if (locate(warp, in, 1U << lane, access, addresses, ignored) == 0) return {};
  const uint64_t rank_bits = address >> kClusterRankShift;
  Block& block = rank_bits == 0 ? warp.block() : *warp.block().cluster().blocks()[rank_bits - 1];
  return {&block, shared_offset(address)};
}

}  // namespace gemmtune::ptxsim
