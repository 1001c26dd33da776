// Integer arithmetic. Source: PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision".
#include <limits>
#include <type_traits>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/arithmetic.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

// Wrapping arithmetic: computed unsigned (and at least 32 bits wide, so that 16-bit products do
// not promote to a signed int that overflows).
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

constexpr auto kAdd = [](auto a, auto b) {
  using T = decltype(a);
  return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
};
constexpr auto kSub = [](auto a, auto b) {
  using T = decltype(a);
  return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
};
constexpr auto kMulLow = [](auto a, auto b) {
  using T = decltype(a);
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
};
constexpr auto kMulHigh = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (sizeof(T) == 8) {
    using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Double>(a) * static_cast<Double>(b)) >> 64);
  } else {
    using Double = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>((static_cast<Double>(a) * static_cast<Double>(b)) >> (8 * sizeof(T)));
  }
};
// Division by zero: the PTX ISA leaves quotient and remainder open; an H200 gives all ones for
// both. Signed minimum by -1 wraps.
constexpr auto kDiv = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
  return static_cast<T>(a / b);
};
constexpr auto kRem = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return T{0};
  }
  return static_cast<T>(a % b);
};
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kAbs = [](auto a) {
  using T = decltype(a);
  return a < 0 ? static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a)) : a;
};
constexpr auto kNeg = [](auto a) {
  using T = decltype(a);
  return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
};
constexpr auto kMadLow = [](auto a, auto b, auto c) { return kAdd(kMulLow(a, b), c); };
constexpr auto kMadHigh = [](auto a, auto b, auto c) { return kAdd(kMulHigh(a, b), c); };
constexpr auto kSad = [](auto a, auto b, auto c) {
  return kAdd(c, a < b ? kSub(b, a) : kSub(a, b));
};

template <class T>
T saturate(int64_t value) {
  constexpr int64_t kLow = std::numeric_limits<T>::min();
  constexpr int64_t kHigh = std::numeric_limits<T>::max();
  return static_cast<T>(value < kLow ? kLow : value > kHigh ? kHigh : value);
}
constexpr auto kAddSat = [](int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} + b); };
constexpr auto kSubSat = [](int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} - b); };

// mul.wide, mad.wide
template <class Narrow, class Double>
Double wide_product(Narrow a, Narrow b) {
  return static_cast<Double>(static_cast<Double>(a) * static_cast<Double>(b));
}
template <class Narrow, class Double>
Double wide_mad(Narrow a, Narrow b, Double c) {
  return kAdd(wide_product<Narrow, Double>(a, b), c);
}
// mul24: the low 24 bits of each, the low 32 of the product
constexpr auto kMul24 = [](uint32_t a, uint32_t b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); };

Type doubled(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}

bool emit_same(DecodeContext& c, Execute execute, Type type, int sources) {
  if (execute == nullptr) return c.unknown("for this type");
  if (sources == 1) return c.emit(execute, type, {type});
  if (sources == 2) return c.emit(execute, type, {type, type});
  return c.emit(execute, type, {type, type, type});
}

// --- carries: one bit a lane, in a row of its own ---

template <class T, bool kSubtract, bool kCarryIn, bool kCarryOut>
Step add_with_carry(Warp& warp, const Instruction& in, uint32_t mask) {
  T* d = warp.row<T>(in.op[0]);
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  uint32_t& carries = warp.predicate(in.op[4]);
  for_lanes(mask, [&](uint32_t lane) {
    const T carry_in = kCarryIn ? static_cast<T>(carries >> lane & 1) : T{kSubtract ? 1 : 0};
    const T addend = kSubtract ? static_cast<T>(~b[lane]) : b[lane];
    const unsigned __int128 sum = static_cast<unsigned __int128>(a[lane]) + addend + carry_in;
    d[lane] = static_cast<T>(sum);
    if constexpr (kCarryOut) {
      const auto carry = static_cast<uint32_t>(sum >> (8 * sizeof(T))) & 1;
      carries = (carries & ~(1U << lane)) | carry << lane;
    }
  });
  return Step::next;
}

template <class T, bool kHigh, bool kCarryIn, bool kCarryOut>
Step mad_with_carry(Warp& warp, const Instruction& in, uint32_t mask) {
  T* d = warp.row<T>(in.op[0]);
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  const T* addend = warp.row<T>(in.op[3]);
  uint32_t& carries = warp.predicate(in.op[4]);
  for_lanes(mask, [&](uint32_t lane) {
    const T carry_in = kCarryIn ? static_cast<T>(carries >> lane & 1) : T{0};
    const T product = kHigh ? kMulHigh(a[lane], b[lane]) : kMulLow(a[lane], b[lane]);
    const unsigned __int128 sum = static_cast<unsigned __int128>(product) + addend[lane] + carry_in;
    d[lane] = static_cast<T>(sum);
    if constexpr (kCarryOut) {
      const auto carry = static_cast<uint32_t>(sum >> (8 * sizeof(T))) & 1;
      carries = (carries & ~(1U << lane)) | carry << lane;
    }
  });
  return Step::next;
}

template <bool kSubtract, bool kCarryIn, bool kCarryOut>
Execute pick_add(Type type) {
  return size_of(type) == 8 ? add_with_carry<uint64_t, kSubtract, kCarryIn, kCarryOut>
                            : add_with_carry<uint32_t, kSubtract, kCarryIn, kCarryOut>;
}

bool is_carry_type(Type type) {
  return type == Type::u32 || type == Type::s32 || type == Type::b32 || type == Type::u64 ||
         type == Type::s64;
}

template <bool kSubtract>
bool decode_carry(DecodeContext& c, bool carry_in) {
  if (!c.only({"cc"})) return false;
  const Type type = c.type();
  if (!is_carry_type(type)) return c.unknown("for this type");
  c.out.op[4] = c.program().special.carry;
  Execute execute = pick_add<kSubtract, false, true>(type);
  if (carry_in) {
    execute = c.has("cc") ? pick_add<kSubtract, true, true>(type)
                          : pick_add<kSubtract, true, false>(type);
  }
  return emit_same(c, execute, type, 2);
}

template <bool kHigh>
Execute pick_mad(Type type, bool carry_in, bool carry_out) {
  if (size_of(type) == 8) {
    return carry_in ? (carry_out ? mad_with_carry<uint64_t, kHigh, true, true>
                                 : mad_with_carry<uint64_t, kHigh, true, false>)
                    : mad_with_carry<uint64_t, kHigh, false, true>;
  }
  // The high half depends on the sign of the type.
  if (type == Type::s32 && kHigh) return nullptr;
  return carry_in ? (carry_out ? mad_with_carry<uint32_t, kHigh, true, true>
                               : mad_with_carry<uint32_t, kHigh, true, false>)
                  : mad_with_carry<uint32_t, kHigh, false, true>;
}

bool decode_mad_carry(DecodeContext& c, bool carry_in) {
  if (!c.only({"cc", "lo", "hi"})) return false;
  const Type type = c.type();
  if (!is_carry_type(type) || (type == Type::s64 && c.has("hi"))) return c.unknown("for this type");
  c.out.op[4] = c.program().special.carry;
  return emit_same(c,
                   c.has("hi") ? pick_mad<true>(type, carry_in, c.has("cc"))
                               : pick_mad<false>(type, carry_in, c.has("cc")),
                   type, 3);
}

bool decode_mul24(DecodeContext& c) {
  return c.only({"lo"}) && c.type() == Type::u32
             ? c.emit(lanewise<kMul24, uint32_t, uint32_t, uint32_t>, Type::u32,
                      {Type::u32, Type::u32})
             : c.unknown();
}

bool decode_sad(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_ternary<kSad>(c.type()), c.type(), 3);
}

}  // namespace

bool decode_integer_add(DecodeContext& c) {
  if (c.has("cc")) return decode_carry<false>(c, false);
  if (c.has("sat")) {
    return c.only({"sat"}) && c.type() == Type::s32
               ? emit_same(c, lanewise<kAddSat, int32_t, int32_t, int32_t>, Type::s32, 2)
               : c.unknown();
  }
  return c.only({}) && emit_same(c, integer_binary<kAdd>(c.type()), c.type(), 2);
}

bool decode_integer_sub(DecodeContext& c) {
  if (c.has("cc")) return decode_carry<true>(c, false);
  if (c.has("sat")) {
    return c.only({"sat"}) && c.type() == Type::s32
               ? emit_same(c, lanewise<kSubSat, int32_t, int32_t, int32_t>, Type::s32, 2)
               : c.unknown();
  }
  return c.only({}) && emit_same(c, integer_binary<kSub>(c.type()), c.type(), 2);
}

bool decode_integer_mul(DecodeContext& c) {
  if (!c.only({"lo", "hi", "wide"})) return false;
  const Type type = c.type();
  if (c.has("lo")) return emit_same(c, integer_binary<kMulLow>(type), type, 2);
  if (c.has("hi")) return emit_same(c, integer_binary<kMulHigh>(type), type, 2);
  Execute execute = nullptr;
  if (type == Type::u16)
    execute = lanewise<wide_product<uint16_t, uint32_t>, uint32_t, uint16_t, uint16_t>;
  if (type == Type::s16)
    execute = lanewise<wide_product<int16_t, int32_t>, int32_t, int16_t, int16_t>;
  if (type == Type::u32)
    execute = lanewise<wide_product<uint32_t, uint64_t>, uint64_t, uint32_t, uint32_t>;
  if (type == Type::s32)
    execute = lanewise<wide_product<int32_t, int64_t>, int64_t, int32_t, int32_t>;
  if (execute == nullptr || !c.has("wide")) return c.unknown();
  return c.emit(execute, doubled(type), {type, type});
}

bool decode_integer_mad(DecodeContext& c) {
  if (c.has("cc")) return decode_mad_carry(c, false);
  if (!c.only({"lo", "hi", "wide"})) return false;
  const Type type = c.type();
  if (c.has("lo")) return emit_same(c, integer_ternary<kMadLow>(type), type, 3);
  if (c.has("hi")) return emit_same(c, integer_ternary<kMadHigh>(type), type, 3);
  Execute execute = nullptr;
  if (type == Type::u16)
    execute = lanewise<wide_mad<uint16_t, uint32_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
  if (type == Type::s16)
    execute = lanewise<wide_mad<int16_t, int32_t>, int32_t, int16_t, int16_t, int32_t>;
  if (type == Type::u32)
    execute = lanewise<wide_mad<uint32_t, uint64_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
  if (type == Type::s32)
    execute = lanewise<wide_mad<int32_t, int64_t>, int64_t, int32_t, int32_t, int64_t>;
  if (execute == nullptr || !c.has("wide")) return c.unknown();
  return c.emit(execute, doubled(type), {type, type, doubled(type)});
}

bool decode_integer_div(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_binary<kDiv>(c.type()), c.type(), 2);
}
bool decode_integer_min(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_binary<kMin>(c.type()), c.type(), 2);
}
bool decode_integer_max(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_binary<kMax>(c.type()), c.type(), 2);
}
bool decode_integer_abs(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_unary<kAbs>(c.type()), c.type(), 1);
}
bool decode_integer_neg(DecodeContext& c) {
  return c.only({}) && emit_same(c, integer_unary<kNeg>(c.type()), c.type(), 1);
}

void add_integer_arithmetic(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::integer;
  set.add(
      "rem",
      [](DecodeContext& c) {
        return c.only({}) && emit_same(c, integer_binary<kRem>(c.type()), c.type(), 2);
      },
      kClass);
  set.add("mul24", decode_mul24, kClass);
  set.add("sad", decode_sad, kClass);
  set.add(
      "addc", [](DecodeContext& c) { return decode_carry<false>(c, true); }, kClass);
  set.add(
      "subc", [](DecodeContext& c) { return decode_carry<true>(c, true); }, kClass);
  set.add(
      "madc", [](DecodeContext& c) { return decode_mad_carry(c, true); }, kClass);
}

}  // namespace gemmtune::ptxsim
