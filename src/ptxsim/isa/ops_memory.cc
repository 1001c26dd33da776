// ld, st and cache hints. Source: PTX ISA, "Data Movement and Conversion Instructions".
//
// Caches are not modelled: every access reaches memory at once, in program order of its lane.
#include <cstring>
#include <type_traits>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/async_store.h"
#include "ptxsim/isa/lanes.h"
#include "ptxsim/machine/memory_access.h"

namespace gemmtune::ptxsim {

namespace {

Access access_of(const Instruction& in, AccessKind kind) {
  return {in.access.space, kind, uint32_t{in.access.element_bytes} * in.access.elements};
}

template <class Stored, class Register>
Step execute_load(Warp& warp, const Instruction& in, uint32_t mask) {
  LaneAddresses addresses;
  LanePointers from;
  lane_addresses(warp, in, 0, addresses);
  resolve(warp, in, mask, access_of(in, AccessKind::read), addresses, from);
  const Row* rows = warp.program().rows.data() + in.list;
  for (uint32_t element = 0; element < in.access.elements; ++element) {
    auto* d = warp.row<Register>(rows[element]);
    for_lanes(mask, [&](uint32_t lane) {
      Stored value;
      std::memcpy(&value, from[lane] + element * sizeof(Stored), sizeof value);
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): ld.s8 extends the sign
      d[lane] = static_cast<Register>(value);
    });
  }
  return Step::next;
}

template <class Stored, class Register>
Step execute_store(Warp& warp, const Instruction& in, uint32_t mask) {
  LaneAddresses addresses;
  LanePointers to;
  lane_addresses(warp, in, 0, addresses);
  resolve(warp, in, mask, access_of(in, AccessKind::write), addresses, to);
  const Row* rows = warp.program().rows.data() + in.list;
  for (uint32_t element = 0; element < in.access.elements; ++element) {
    const auto* source = warp.row<Register>(rows[element]);
    for_lanes(mask, [&](uint32_t lane) {
      const auto value = static_cast<Stored>(source[lane]);
      std::memcpy(to[lane] + element * sizeof(Stored), &value, sizeof value);
    });
  }
  return Step::next;
}

// Signed values are extended through the signed register type of the same width.
template <class Stored>
Execute load_of(uint32_t register_bytes) {
  constexpr bool kSigned = std::is_signed_v<Stored>;
  switch (register_bytes) {
    case 1:
      return execute_load<Stored, std::conditional_t<kSigned, int8_t, uint8_t>>;
    case 2:
      return execute_load<Stored, std::conditional_t<kSigned, int16_t, uint16_t>>;
    case 4:
      return execute_load<Stored, std::conditional_t<kSigned, int32_t, uint32_t>>;
    case 8:
      return execute_load<Stored, std::conditional_t<kSigned, int64_t, uint64_t>>;
    default:
      return nullptr;
  }
}
template <class Stored>
Execute store_of(uint32_t register_bytes) {
  switch (register_bytes) {
    case 1:
      return execute_store<Stored, uint8_t>;
    case 2:
      return execute_store<Stored, uint16_t>;
    case 4:
      return execute_store<Stored, uint32_t>;
    case 8:
      return execute_store<Stored, uint64_t>;
    default:
      return nullptr;
  }
}

Execute pick_load(Type type, uint32_t register_bytes) {
  switch (type) {
    case Type::s8:
      return load_of<int8_t>(register_bytes);
    case Type::s16:
      return load_of<int16_t>(register_bytes);
    case Type::s32:
      return load_of<int32_t>(register_bytes);
    default:
      break;
  }
  switch (size_of(type)) {
    case 1:
      return load_of<uint8_t>(register_bytes);
    case 2:
      return load_of<uint16_t>(register_bytes);
    case 4:
      return load_of<uint32_t>(register_bytes);
    case 8:
      return load_of<uint64_t>(register_bytes);
    case 16:
      return execute_load<unsigned __int128, unsigned __int128>;
    default:
      return nullptr;
  }
}
Execute pick_store(Type type, uint32_t register_bytes) {
  switch (size_of(type)) {
    case 1:
      return store_of<uint8_t>(register_bytes);
    case 2:
      return store_of<uint16_t>(register_bytes);
    case 4:
      return store_of<uint32_t>(register_bytes);
    case 8:
      return store_of<uint64_t>(register_bytes);
    case 16:
      return execute_store<unsigned __int128, unsigned __int128>;
    default:
      return nullptr;
  }
}

bool allowed_modifiers(DecodeContext& c) {
  return c.only({"global",
                 "shared",
                 "shared::cta",
                 "shared::cluster",
                 "local",
                 "param",
                 "param::entry",
                 "param::func",
                 "const",
                 "v2",
                 "v4",
                 "v8",
                 "volatile",
                 "weak",
                 "relaxed",
                 "acquire",
                 "release",
                 "cta",
                 "cluster",
                 "gpu",
                 "sys",
                 "ca",
                 "cg",
                 "cs",
                 "lu",
                 "cv",
                 "wb",
                 "wt",
                 "nc",
                 "mmio",
                 "L1::evict_normal",
                 "L1::evict_unchanged",
                 "L1::evict_first",
                 "L1::evict_last",
                 "L1::no_allocate",
                 "L2::evict_normal",
                 "L2::evict_first",
                 "L2::evict_last",
                 "L2::cache_hint",
                 "L2::64B",
                 "L2::128B",
                 "L2::256B"});
}

void set_space(DecodeContext& c) {
  Space& space = c.out.access.space;
  space = Space::generic;
  if (c.has("global")) space = Space::global;
  if (c.has("shared") || c.has("shared::cta") || c.has("shared::cluster")) space = Space::shared;
  if (c.has("local")) space = Space::local;
  if (c.has("param") || c.has("param::entry") || c.has("param::func")) space = Space::param;
  if (c.has("const")) space = Space::constant;
}

// `param` in a call sequence is the thread's own frame; a name tells which it is.
bool set_address(DecodeContext& c, const ast::Operand& operand, size_t index) {
  const Space stated = c.out.access.space;
  if (!c.address(operand, index)) return false;
  if (stated != Space::param && stated != Space::generic) c.out.access.space = stated;
  if (stated == Space::shared || stated == Space::generic) {  // generic may be shared
    uint32_t& granule = c.program().shared_granule;
    granule = std::min<uint32_t>(granule, c.out.access.element_bytes);
  }
  return true;
}

uint8_t vector_length(const DecodeContext& c) {
  return c.has("v2") ? 2 : c.has("v4") ? 4 : c.has("v8") ? 8 : 1;
}

bool prepare(DecodeContext& c) {
  if (!allowed_modifiers(c)) return false;
  const Type type = c.type();
  if (type == Type::none || type == Type::pred) return c.unknown("without a type");
  set_space(c);
  c.out.access.element_bytes = static_cast<uint8_t>(size_of(type));
  c.out.access.elements = vector_length(c);
  c.out.access.is_atomic = c.has("volatile") || c.has("relaxed") || c.has("acquire") ||
                           c.has("release") || c.has("mmio");
  c.out.reports_undefined = true;
  return true;
}

// The data operand: one register, or as many as the vector is long, all of one width.
bool data(DecodeContext& c, const ast::Operand& operand, bool writes, uint32_t& width) {
  const std::vector<const ast::Operand*> elements = DecodeContext::elements(operand);
  if (elements.size() != c.out.access.elements) return c.fail("a wrong number of registers");
  width = 0;
  for (const ast::Operand* element : elements) {
    uint32_t own = 0;
    const Row row = writes ? c.loose_destination(*element, c.type(), own)
                           : c.loose_source(*element, c.type(), own);
    if (row == kNoRow) return false;
    if (writes && element->name == "_") own = width != 0 ? width : own;
    if (width != 0 && own != width) return c.fail("registers of different widths");
    width = own;
    c.append_row(row);
  }
  return true;
}

bool decode_load(DecodeContext& c) {
  if (!prepare(c) || !c.operand_count(2, 3)) return false;
  uint32_t width = 0;
  if (!data(c, c.operand(0), true, width) || !set_address(c, c.operand(1), 0)) return false;
  const Execute execute = pick_load(c.type(), width);
  return execute == nullptr ? c.unknown() : c.emit(execute);
}

bool decode_store(DecodeContext& c) {
  if (c.has("async")) return decode_async_store(c);
  if (!prepare(c) || !c.operand_count(2, 3)) return false;
  uint32_t width = 0;
  if (!data(c, c.operand(1), false, width) || !set_address(c, c.operand(0), 0)) return false;
  const Execute execute = pick_store(c.type(), width);
  return execute == nullptr ? c.unknown() : c.emit(execute);
}

// Hints without an effect that the simulator could show.
bool decode_hint(DecodeContext& /*c*/) {
  return true;
}

template <class T>
T opaque_policy(T /*unused*/) {
  return 0;
}

bool decode_createpolicy(DecodeContext& c) {
  c.out.op[0] = c.out.op[1] = c.destination(c.operand(0), Type::b64);
  return c.out.op[0] != kNoRow && c.emit(unary_of<opaque_policy<uint64_t>, uint64_t>);
}

}  // namespace

void add_memory(InstructionSet& set) {
  set.add("ld", decode_load, InstructionClass::load);
  set.add("ldu", decode_load, InstructionClass::load);
  set.add("st", decode_store, InstructionClass::store);
  set.add("prefetch", decode_hint, InstructionClass::load);
  set.add("prefetchu", decode_hint, InstructionClass::load);
  set.add("applypriority", decode_hint, InstructionClass::load);
  set.add("createpolicy", decode_createpolicy, InstructionClass::move);
}

}  // namespace gemmtune::ptxsim
