// mov (with packing and unpacking), cvta, isspacep. Source: PTX ISA, "Data Movement and
// Conversion".
#include <cstring>
#include <span>
#include <vector>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

template <class T>
T same(T x) {
  return x;
}

Step move_predicate(Warp& warp, const Instruction& in, uint32_t mask) {
  uint32_t value = warp.predicate(in.op[1]);
  if (in.variant != 0) value = ~value;
  uint32_t& d = warp.predicate(in.op[0]);
  d = (d & ~mask) | (value & mask);
  return Step::next;
}

// {a, b, ...} -> d: the first element has the lowest bits. Instruction::immediate: bytes of one.
Step pack(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto part = static_cast<uint32_t>(in.immediate);
  const uint32_t whole = part * in.list_size;
  auto* d = warp.row<std::byte>(in.op[0]);
  const Row* rows = warp.program().rows.data() + in.list;
  std::byte values[kWarpSize * 16];
  for_lanes(mask, [&](uint32_t lane) {
    for (uint32_t i = 0; i < in.list_size; ++i) {
      std::memcpy(values + lane * whole + i * part, warp.row<std::byte>(rows[i]) + lane * part,
                  part);
    }
  });
  for_lanes(mask,
            [&](uint32_t lane) { std::memcpy(d + lane * whole, values + lane * whole, whole); });
  return Step::next;
}

Step unpack(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto part = static_cast<uint32_t>(in.immediate);
  const uint32_t whole = part * in.list_size;
  const Row* rows = warp.program().rows.data() + in.list;
  std::byte values[kWarpSize * 16];
  std::memcpy(values, warp.row<std::byte>(in.op[1]), size_t{kWarpSize} * whole);
  for (uint32_t i = 0; i < in.list_size; ++i) {
    auto* d = warp.row<std::byte>(rows[i]);
    for_lanes(mask, [&](uint32_t lane) {
      std::memcpy(d + lane * part, values + lane * whole + i * part, part);
    });
  }
  return Step::next;
}

Type type_of_bytes(uint32_t bytes) {
  switch (bytes) {
    case 1:
      return Type::b8;
    case 2:
      return Type::b16;
    case 4:
      return Type::b32;
    case 8:
      return Type::b64;
    default:
      return Type::none;
  }
}

// The words of registers of `bytes` each, the lowest first.
std::vector<Row> words(std::span<const Row> rows, uint32_t bytes) {
  std::vector<Row> found;
  for (const Row row : rows) {
    for (uint32_t i = 0; i < words_of(bytes); ++i) found.push_back(row + i * kWordStep);
  }
  return found;
}

// Says which words a decoded mov moves, where it does not take them apart.
void note_moved_words(DecodeContext& c, uint32_t part, uint32_t whole, bool packs) {
  if (part < 4) return;
  const std::span<const Row> list(c.program().rows.data() + c.out.list, c.out.list_size);
  const std::vector<Row> parts = words(list, part);
  const std::vector<Row> all = words({&c.out.op[packs ? 0 : 1], 1}, whole);
  c.passes_words(packs ? parts : all, packs ? all : parts);
}

bool decode_pack(DecodeContext& c, bool packs) {
  const ast::Operand& list = c.operand(packs ? 1 : 0);
  const uint32_t whole = size_of(c.type());
  const auto count = static_cast<uint32_t>(list.elements.size());
  if (count == 0 || whole % count != 0 || whole > 16) return c.fail("a wrong number of elements");
  const Type part = type_of_bytes(whole / count);
  if (part == Type::none) return c.fail("a wrong number of elements");
  c.out.immediate = whole / count;
  if (packs) {
    c.out.op[0] = c.destination(c.operand(0), c.type());
    if (c.out.op[0] == kNoRow || !c.list_sources(list, part)) return false;
  } else {
    c.out.op[1] = c.source(c.operand(1), c.type());
    if (c.out.op[1] == kNoRow || !c.list_destinations(list, part)) return false;
  }
  note_moved_words(c, whole / count, whole, packs);
  return c.emit(packs ? pack : unpack);
}

// A mov between registers of several words.
bool emit_wide_move(DecodeContext& c, Execute execute, Type type) {
  if (!c.emit(execute, type, {type})) return false;
  c.passes_words(words({&c.out.op[1], 1}, size_of(type)), words({&c.out.op[0], 1}, size_of(type)));
  return true;
}

bool decode_move_predicate(DecodeContext& c) {
  bool negated = false;
  c.out.op[0] = c.predicate_destination(c.operand(0));
  c.out.op[1] = c.predicate_source(c.operand(1), negated);
  c.out.variant = negated ? 1 : 0;
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.emit(move_predicate);
}

bool decode_mov(DecodeContext& c) {
  if (!c.only({}) || !c.operand_count(2, 2)) return false;
  const Type type = c.type();
  if (type == Type::pred) return decode_move_predicate(c);
  if (c.operand(1).kind == ast::Operand::Kind::vector) return decode_pack(c, true);
  if (c.operand(0).kind == ast::Operand::Kind::vector) return decode_pack(c, false);
  switch (size_of(type)) {
    case 2:
      return c.emit(unary_of<same<uint16_t>, uint16_t>, type, {type});
    case 4:
      return c.emit(unary_of<same<uint32_t>, uint32_t>, type, {type});
    case 8:
      return emit_wide_move(c, unary_of<same<uint64_t>, uint64_t>, type);
    case 16:
      return emit_wide_move(c, unary_of<same<unsigned __int128>, unsigned __int128>, type);
    default:
      return c.unknown();
  }
}

// --- generic addresses ---

template <uint64_t kWindow>
uint64_t to_generic(uint64_t offset) {
  return offset + kWindow;
}
template <uint64_t kWindow>
uint64_t from_generic(uint64_t address) {
  return address - kWindow;
}

bool decode_cvta(DecodeContext& c) {
  if (!c.only({"to", "global", "const", "shared", "shared::cta", "shared::cluster", "local",
               "param", "param::entry"})) {
    return false;
  }
  if (size_of(c.type()) != 8) return c.unknown("with 32-bit addresses");
  const bool to_space = c.has("to");
  Execute execute = unary_of<same<uint64_t>, uint64_t>;  // global and const are generic already
  if (c.has("shared") || c.has("shared::cta") || c.has("shared::cluster")) {
    execute = to_space ? unary_of<from_generic<kSharedWindow>, uint64_t>
                       : unary_of<to_generic<kSharedWindow>, uint64_t>;
  } else if (c.has("local")) {
    execute = to_space ? unary_of<from_generic<kLocalWindow>, uint64_t>
                       : unary_of<to_generic<kLocalWindow>, uint64_t>;
  } else if (c.has("param") || c.has("param::entry")) {
    execute = to_space ? unary_of<from_generic<kParamWindow>, uint64_t>
                       : unary_of<to_generic<kParamWindow>, uint64_t>;
  }
  return c.emit(execute, Type::u64, {Type::u64});
}

// Instruction::immediate is the window's base, 0 for global.
Step execute_isspacep(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* a = warp.row<uint64_t>(in.op[1]);
  const auto window = static_cast<uint64_t>(in.immediate);
  uint32_t result = 0;
  for_lanes(mask, [&](uint32_t lane) {
    const bool yes = window == 0 ? a[lane] < kSharedWindow : a[lane] - window < kWindowBytes;
    result |= (yes ? 1U : 0U) << lane;
  });
  uint32_t& d = warp.predicate(in.op[0]);
  d = (d & ~mask) | result;
  return Step::next;
}

bool decode_isspacep(DecodeContext& c) {
  if (!c.only({"global", "shared", "shared::cta", "shared::cluster", "local"}) ||
      !c.operand_count(2, 2)) {
    return c.unknown();
  }
  c.out.immediate = static_cast<int64_t>(c.has("global")  ? 0
                                         : c.has("local") ? kLocalWindow
                                                          : kSharedWindow);
  c.out.op[0] = c.predicate_destination(c.operand(0));
  c.out.op[1] = c.source(c.operand(1), Type::u64);
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.emit(execute_isspacep);
}

}  // namespace

void add_moves(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::move;
  set.add("mov", decode_mov, kClass);
  set.add("cvta", decode_cvta, kClass);
  set.add("isspacep", decode_isspacep, kClass);
}

}  // namespace gemmtune::ptxsim
