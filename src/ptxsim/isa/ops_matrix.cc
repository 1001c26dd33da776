// ldmatrix, stmatrix, movmatrix. Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix",
// "stmatrix", "movmatrix".
//
// 8x8 matrices of 16-bit elements. Lane l of rows 8i .. 8i+7 gives the address of a row of matrix
// i; lane l holds elements 2 * (l % 4) and the next of row l / 4, transposed with .trans.
#include <bit>
#include <cstring>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/isa/matrix.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

bool whole_warp(Warp& warp, const Instruction& in, uint32_t mask) {
  if (mask == kAllLanes) return true;
  warp.report(Check::matrix_lanes, in, static_cast<uint32_t>(std::countr_zero(mask)), 0,
              [] { return "a matrix instruction executed by a part of the warp"; });
  return false;
}

namespace {

constexpr uint32_t kRowBytes = 16;

using Tile = uint16_t[8][8];

void distribute(const Tile& tile, bool transposed, uint32_t* registers) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t major = lane / 4;
    const uint32_t minor = lane % 4 * 2;
    const uint16_t low = transposed ? tile[minor][major] : tile[major][minor];
    const uint16_t high = transposed ? tile[minor + 1][major] : tile[major][minor + 1];
    registers[lane] = low | uint32_t{high} << 16;
  }
}

void collect(const uint32_t* registers, bool transposed, Tile& tile) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const uint32_t major = lane / 4;
    const uint32_t minor = lane % 4 * 2;
    const auto low = static_cast<uint16_t>(registers[lane]);
    const auto high = static_cast<uint16_t>(registers[lane] >> 16);
    (transposed ? tile[minor][major] : tile[major][minor]) = low;
    (transposed ? tile[minor + 1][major] : tile[major][minor + 1]) = high;
  }
}

// The lanes that give the addresses of `count` matrices.
uint32_t address_lanes(uint32_t count) {
  return count == 4 ? kAllLanes : (1U << (8 * count)) - 1;
}

// Instruction::variant: transposed. The list holds one register a matrix.
Step execute_load(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  LaneAddresses addresses;
  LanePointers rows;
  lane_addresses(warp, in, 0, addresses);
  resolve(warp, in, address_lanes(in.list_size), {in.access.space, AccessKind::read, kRowBytes, 0},
          addresses, rows);
  const Row* registers = warp.program().rows.data() + in.list;
  Tile tiles[4];
  for (uint32_t i = 0; i < 8U * in.list_size; ++i) {
    std::memcpy(tiles[i / 8][i % 8], rows[i], kRowBytes);
  }
  for (uint32_t i = 0; i < in.list_size; ++i) {
    distribute(tiles[i], in.variant != 0, warp.row<uint32_t>(registers[i]));
  }
  return Step::next;
}

Step execute_store(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  LaneAddresses addresses;
  LanePointers rows;
  lane_addresses(warp, in, 0, addresses);
  resolve(warp, in, address_lanes(in.list_size), {in.access.space, AccessKind::write, kRowBytes, 0},
          addresses, rows);
  const Row* registers = warp.program().rows.data() + in.list;
  for (uint32_t i = 0; i < in.list_size; ++i) {
    Tile tile;
    collect(warp.row<uint32_t>(registers[i]), in.variant != 0, tile);
    for (uint32_t row = 0; row < 8; ++row) std::memcpy(rows[8 * i + row], tile[row], kRowBytes);
  }
  return Step::next;
}

Step execute_move(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return Step::fault;
  Tile tile;
  collect(warp.row<uint32_t>(in.op[1]), false, tile);
  distribute(tile, true, warp.row<uint32_t>(in.op[0]));
  return Step::next;
}

bool decode_transfer(DecodeContext& c, bool loads) {
  if (!c.only({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"}) ||
      !c.has("m8n8") || c.type() != Type::b16 || !c.operand_count(2, 2)) {
    return c.unknown();
  }
  const size_t count = c.has("x4") ? 4 : c.has("x2") ? 2 : 1;
  const ast::Operand& registers = c.operand(loads ? 0 : 1);
  if (!c.address(c.operand(loads ? 1 : 0), 0)) return false;
  const bool generic = !c.has("shared") && !c.has("shared::cta");
  c.out.access.space = generic ? Space::generic : Space::shared;
  c.out.variant = c.has("trans") ? 1 : 0;
  c.out.reports_undefined = true;
  const bool listed =
      loads ? c.list_destinations(registers, Type::b32) : c.list_sources(registers, Type::b32);
  if (!listed) return false;
  if (c.out.list_size != count) return c.fail("a wrong number of registers");
  return c.emit(loads ? execute_load : execute_store);
}

bool decode_move(DecodeContext& c) {
  if (!c.only({"sync", "aligned", "m8n8", "trans"}) || !c.has("m8n8") || !c.has("trans")) {
    return c.unknown();
  }
  return c.emit(execute_move, Type::b32, {Type::b32});
}

}  // namespace

void add_matrix_moves(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::matrix;
  set.add(
      "ldmatrix", [](DecodeContext& c) { return decode_transfer(c, true); }, kClass);
  set.add(
      "stmatrix", [](DecodeContext& c) { return decode_transfer(c, false); }, kClass);
  set.add("movmatrix", decode_move, kClass);
}

}  // namespace gemmtune::ptxsim
