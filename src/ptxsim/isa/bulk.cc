#include "ptxsim/isa/bulk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptxsim/isa/address_rows.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint32_t kTensorAlignment = 128;
constexpr uint32_t kPlainAlignment = 16;

}  // namespace

uint32_t dimensions_of(const DecodeContext& c) {
  static constexpr std::string_view kNames[] = {"1d", "2d", "3d", "4d", "5d"};
  for (uint32_t i = 0; i < std::size(kNames); ++i) {
    if (c.has(kNames[i])) return i + 1;
  }
  return 0;
}

bool append_tensor(DecodeContext& c, const ast::Operand& operand, uint32_t dimensions) {
  if (operand.kind != ast::Operand::Kind::address || operand.elements.size() != 2) {
    return c.fail("a tensor map and coordinates in [ ] are needed");
  }
  ast::Operand map = operand;
  map.elements.resize(1);
  if (!append_address(c, map, Space::generic)) return false;
  const auto coordinates = DecodeContext::elements(operand.elements[1]);
  if (coordinates.size() != dimensions) return c.fail("a wrong number of coordinates");
  return c.list_sources(operand.elements[1], Type::s32);
}

bool read_tensor(Warp& warp, const Instruction& in, uint32_t lane, const Row* rows,
                 uint32_t dimensions, TensorBox& box) {
  LaneAddresses addresses = {};
  LanePointers bytes;
  addresses[lane] = generic_address(warp, rows, lane);
  const Access access{Space::generic, AccessKind::read, sizeof(EncodedTensorMap),
                      alignof(EncodedTensorMap)};
  if (locate(warp, in, 1U << lane, access, addresses, bytes) == 0) return false;
  TensorMap map;
  std::memcpy(&map, bytes[lane], sizeof(map));
  const auto is_legal = [&](const std::string& fault) {
    if (!fault.empty())
      warp.report(Check::tensor_map, in, lane, addresses[lane], [&] { return fault; });
    return fault.empty();
  };
  if (!is_legal(fault_of(map, dimensions))) return false;
  std::array<int32_t, 5> coordinate = {};
  for (uint32_t i = 0; i < dimensions; ++i) {
    coordinate[i] = warp.row<int32_t>(rows[kAddressRows + i])[lane];
  }
  box = box_of(map, coordinate);
  return is_legal(fault_of(box));
}

bool read_plain(Warp& warp, const Instruction& in, uint32_t lane, const Row* rows, bool writes,
                TensorBox& box) {
  const uint32_t size = warp.row<uint32_t>(in.op[1])[lane];
  box = TensorBox{};
  box.address = generic_address(warp, rows, lane);
  box.dimensions = 1;
  box.extent.fill(1);
  box.box.fill(1);
  box.extent[0] = box.box[0] = size;
  if (size % kPlainAlignment == 0 && size != 0 && box.address % kPlainAlignment == 0) return true;
  warp.report(Check::global_alignment, in, lane, box.address, [&] {
    return fmt::format("a bulk copy of {} bytes {} {:#x}: both must be multiples of 16", size,
                       writes ? "to" : "from", box.address);
  });
  return false;
}

bool check_shared_box(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                      const TensorBox& box, bool plain, bool writes) {
  constexpr uint64_t kMost = 1U << 30;  // beyond any shared memory
  LaneAddresses addresses = {};
  LanePointers ignored;
  addresses[lane] = address;
  const Access access{Space::shared, writes ? AccessKind::write : AccessKind::read,
                      static_cast<uint32_t>(std::min(footprint(box), kMost)),
                      plain ? kPlainAlignment : kTensorAlignment};
  return locate(warp, in, 1U << lane, access, addresses, ignored) != 0;
}

bool check_tensor_bounds(Warp& warp, const Instruction& in, uint32_t lane, const TensorBox& box,
                         bool writes) {
  LaneAddresses addresses = {};
  LanePointers ignored;
  Access access{Space::global, writes ? AccessKind::write : AccessKind::read, 0, 1};
  for (uint32_t r = 0; r < box.rows(); ++r) {
    const BoxRow row = row_of(box, r);
    if (row.bytes == 0) continue;
    addresses[lane] = row.address;
    access.bytes = row.bytes;
    if (locate(warp, in, 1U << lane, access, addresses, ignored) == 0) return false;
    if (!writes) note_global_read(warp, in, lane, row.address, row.bytes);
  }
  return true;
}

void count_bulk(Warp& warp, const Instruction& in, const TensorBox& box) {
  constexpr uint64_t kSectorBytes = 32;
  if (!warp.launch().options.profile) return;
  AccessCounts& counts = warp.log().accesses[warp.index_of(in)];
  counts.space = Space::global;
  counts.bytes_per_lane = box.bytes();
  ++counts.executions;
  ++counts.lanes;
  for (uint32_t r = 0; r < box.rows(); ++r) {
    const BoxRow row = row_of(box, r);
    if (row.bytes == 0) continue;
    counts.sectors += (row.address + row.bytes - 1) / kSectorBytes - row.address / kSectorBytes + 1;
    counts.ideal_sectors += (row.bytes + kSectorBytes - 1) / kSectorBytes;
  }
}

}  // namespace gemmtune::ptxsim
