// setp, set, selp, slct. Source: PTX ISA, "Comparison and Selection Instructions".
#include <array>
#include <cmath>
#include <type_traits>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/arithmetic.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

struct Eq {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool of(T a, T b) {
    return a < b || a > b;
  }
};
struct Lt {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
// Unordered: true when an operand is NaN.
struct Equ {
  template <class T>
  static bool of(T a, T b) {
    return !Ne::of(a, b);
  }
};
struct Neu {
  template <class T>
  static bool of(T a, T b) {
    return !(a == b);
  }
};
struct Ltu {
  template <class T>
  static bool of(T a, T b) {
    return !(a >= b);
  }
};
struct Leu {
  template <class T>
  static bool of(T a, T b) {
    return !(a > b);
  }
};
struct Gtu {
  template <class T>
  static bool of(T a, T b) {
    return !(a <= b);
  }
};
struct Geu {
  template <class T>
  static bool of(T a, T b) {
    return !(a < b);
  }
};
struct Num {
  template <class T>
  static bool of(T a, T b) {
    return a == a && b == b;
  }
};
struct Nan {
  template <class T>
  static bool of(T a, T b) {
    return a != a || b != b;
  }
};

// How the 32 values of a row become values to compare.
template <class T>
struct Plain {
  using Stored = T;
  static T value(T x) { return x; }
};
struct Flushed {
  using Stored = float;
  static float value(float x) { return std::fabs(x) < 0x1p-126F ? 0.0F : x; }
};
struct HalfValue {
  using Stored = uint16_t;
  static float value(uint16_t x) { return half_to_float(x); }
};
struct BfloatValue {
  using Stored = uint16_t;
  static float value(uint16_t x) { return bfloat_to_float(x); }
};

template <class Value, class Compare>
uint32_t compare_row(Warp& warp, Row first, Row second) {
  const auto* a = warp.row<typename Value::Stored>(first);
  const auto* b = warp.row<typename Value::Stored>(second);
  uint8_t yes[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    yes[lane] = Compare::of(Value::value(a[lane]), Value::value(b[lane])) ? 1 : 0;
  }
  uint32_t out = 0;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) out |= uint32_t{yes[lane]} << lane;
  return out;
}

// Instruction::variant bits: how the third operand is combined, and what is negated.
constexpr uint16_t kAnd = 1;
constexpr uint16_t kOr = 2;
constexpr uint16_t kXor = 3;
constexpr uint16_t kOperation = 3;
constexpr uint16_t kNegated = 4;
constexpr uint16_t kSecond = 8;  // p|q: q is the negated comparison, combined likewise

uint32_t combine(Warp& warp, const Instruction& in, uint32_t result) {
  if ((in.variant & kOperation) == 0) return result;
  uint32_t other = warp.predicate(in.op[3]);
  if ((in.variant & kNegated) != 0) other = ~other;
  switch (in.variant & kOperation) {
    case kAnd:
      return result & other;
    case kOr:
      return result | other;
    default:
      return result ^ other;
  }
}

template <class Value, class Compare>
Step execute_setp(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t result = compare_row<Value, Compare>(warp, in.op[1], in.op[2]);
  const uint32_t first = combine(warp, in, result);
  const uint32_t second = combine(warp, in, ~result);
  uint32_t& d = warp.predicate(in.op[0]);
  d = (d & ~mask) | (first & mask);
  if ((in.variant & kSecond) != 0) {
    uint32_t& q = warp.predicate(in.op[4]);
    q = (q & ~mask) | (second & mask);
  }
  return Step::next;
}

// set: all ones, or 1.0 for a float destination (Instruction::immediate).
template <class Value, class Compare>
Step execute_set(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t result = combine(warp, in, compare_row<Value, Compare>(warp, in.op[1], in.op[2]));
  auto* d = warp.row<uint32_t>(in.op[0]);
  for_lanes(mask, [&](uint32_t lane) {
    d[lane] = (result >> lane & 1) != 0 ? static_cast<uint32_t>(in.immediate) : 0;
  });
  return Step::next;
}

template <class Value, class Compare>
Execute pick(bool to_predicate) {
  return to_predicate ? execute_setp<Value, Compare> : execute_set<Value, Compare>;
}

template <class Value>
Execute by_ordered(std::string_view op, bool p) {
  if (op == "eq") return pick<Value, Eq>(p);
  if (op == "ne") return pick<Value, Ne>(p);
  if (op == "lt" || op == "lo") return pick<Value, Lt>(p);
  if (op == "le" || op == "ls") return pick<Value, Le>(p);
  if (op == "gt" || op == "hi") return pick<Value, Gt>(p);
  if (op == "ge" || op == "hs") return pick<Value, Ge>(p);
  return nullptr;
}

template <class Value>
Execute by_float(std::string_view op, bool p) {
  if (op == "equ") return pick<Value, Equ>(p);
  if (op == "neu") return pick<Value, Neu>(p);
  if (op == "ltu") return pick<Value, Ltu>(p);
  if (op == "leu") return pick<Value, Leu>(p);
  if (op == "gtu") return pick<Value, Gtu>(p);
  if (op == "geu") return pick<Value, Geu>(p);
  if (op == "num") return pick<Value, Num>(p);
  if (op == "nan") return pick<Value, Nan>(p);
  return by_ordered<Value>(op, p);
}

Execute by_type(Type type, std::string_view op, bool ftz, bool p) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return by_ordered<Plain<uint16_t>>(op, p);
    case Type::s16:
      return by_ordered<Plain<int16_t>>(op, p);
    case Type::b32:
    case Type::u32:
      return by_ordered<Plain<uint32_t>>(op, p);
    case Type::s32:
      return by_ordered<Plain<int32_t>>(op, p);
    case Type::b64:
    case Type::u64:
      return by_ordered<Plain<uint64_t>>(op, p);
    case Type::s64:
      return by_ordered<Plain<int64_t>>(op, p);
    case Type::f32:
      return ftz ? by_float<Flushed>(op, p) : by_float<Plain<float>>(op, p);
    case Type::f64:
      return by_float<Plain<double>>(op, p);
    case Type::f16:
      return by_float<HalfValue>(op, p);
    case Type::bf16:
      return by_float<BfloatValue>(op, p);
    default:
      return nullptr;
  }
}

Type stored_type(Type type) {
  return is_half(type) ? Type::b16 : type;
}

constexpr std::array<std::string_view, 18> kComparisons = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

std::string_view comparison_of(const DecodeContext& c) {
  for (std::string_view op : kComparisons) {
    if (c.has(op)) return op;
  }
  return {};
}

bool allowed_modifiers(DecodeContext& c) {
  return c.only({"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs",  "equ",
                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor", "ftz"});
}

// Operands a, b and the optional predicate c.
bool comparison_operands(DecodeContext& c, Type type) {
  const bool combines = c.has("and") || c.has("or") || c.has("xor");
  if (!c.operand_count(combines ? 4 : 3, combines ? 4 : 3)) return false;
  c.out.op[1] = c.source(c.operand(1), stored_type(type));
  c.out.op[2] = c.source(c.operand(2), stored_type(type));
  if (c.out.op[1] == kNoRow || c.out.op[2] == kNoRow) return false;
  if (!combines) return true;
  bool negated = false;
  c.out.op[3] = c.predicate_source(c.operand(3), negated);
  c.out.variant |= c.has("and") ? kAnd : c.has("or") ? kOr : kXor;
  if (negated) c.out.variant |= kNegated;
  return c.out.op[3] != kNoRow;
}

bool decode_setp(DecodeContext& c) {
  if (!allowed_modifiers(c)) return false;
  const Type type = c.type();
  const Execute execute = by_type(type, comparison_of(c), c.has("ftz"), true);
  if (execute == nullptr) return c.unknown();
  if (!comparison_operands(c, type)) return false;
  const ast::Operand& d = c.operand(0);
  if (d.kind == ast::Operand::Kind::pair) {
    c.out.op[0] = c.predicate_destination(d.elements[0]);
    c.out.op[4] = c.predicate_destination(d.elements[1]);
    c.out.variant |= kSecond;
    return c.out.op[0] != kNoRow && c.out.op[4] != kNoRow && c.emit(execute);
  }
  c.out.op[0] = c.predicate_destination(d);
  return c.out.op[0] != kNoRow && c.emit(execute);
}

bool decode_set(DecodeContext& c) {
  if (!allowed_modifiers(c)) return false;
  const std::vector<Type> types = c.types();
  if (types.size() != 2) return c.unknown();
  if (types[0] != Type::u32 && types[0] != Type::s32 && types[0] != Type::f32) return c.unknown();
  const Execute execute = by_type(types[1], comparison_of(c), c.has("ftz"), false);
  if (execute == nullptr) return c.unknown();
  if (!comparison_operands(c, types[1])) return false;
  c.out.immediate = types[0] == Type::f32 ? 0x3F800000 : 0xFFFFFFFF;
  c.out.op[0] = c.destination(c.operand(0), types[0]);
  return c.out.op[0] != kNoRow && c.emit(execute);
}

template <class T>
Step execute_selp(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  uint32_t chosen = warp.predicate(in.op[3]);
  if (in.variant != 0) chosen = ~chosen;
  T values[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = (chosen >> lane & 1) != 0 ? a[lane] : b[lane];
  }
  blend(warp.row<T>(in.op[0]), values, mask);
  return Step::next;
}

bool decode_selp(DecodeContext& c) {
  if (!c.only({}) || !c.operand_count(4, 4)) return false;
  const Type type = stored_type(c.type());
  c.out.op[0] = c.destination(c.operand(0), type);
  c.out.op[1] = c.source(c.operand(1), type);
  c.out.op[2] = c.source(c.operand(2), type);
  bool negated = false;
  c.out.op[3] = c.predicate_source(c.operand(3), negated);
  c.out.variant = negated ? 1 : 0;
  c.out.selects = !negated;
  for (size_t i = 0; i < 4; ++i) {
    if (c.out.op[i] == kNoRow) return false;
  }
  switch (size_of(type)) {
    case 2:
      return c.emit(execute_selp<uint16_t>);
    case 4:
      return c.emit(execute_selp<uint32_t>);
    case 8:
      return c.emit(execute_selp<uint64_t>);
    default:
      return c.unknown();
  }
}

template <class T, class C>
T choose_by_sign(T a, T b, C c) {
  return c >= 0 ? a : b;
}
template <class T>
Execute slct_of(Type by) {
  return by == Type::s32 ? lanewise<choose_by_sign<T, int32_t>, T, T, T, int32_t>
                         : lanewise<choose_by_sign<T, float>, T, T, T, float>;
}

bool decode_slct(DecodeContext& c) {
  const std::vector<Type> types = c.types();
  if (!c.only({"ftz"}) || types.size() != 2) return c.unknown();
  if (types[1] != Type::s32 && types[1] != Type::f32) return c.unknown();
  Execute execute = nullptr;
  if (size_of(types[0]) == 2) execute = slct_of<uint16_t>(types[1]);
  if (size_of(types[0]) == 4) execute = slct_of<uint32_t>(types[1]);
  if (size_of(types[0]) == 8) execute = slct_of<uint64_t>(types[1]);
  if (execute == nullptr) return c.unknown();
  return c.emit(execute, types[0], {types[0], types[0], types[1]});
}

}  // namespace

void add_comparisons(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::predicate;
  set.add("setp", decode_setp, kClass);
  set.add("set", decode_set, kClass);
  set.add("selp", decode_selp, kClass);
  set.add("slct", decode_slct, kClass);
}

}  // namespace gemmtune::ptxsim
