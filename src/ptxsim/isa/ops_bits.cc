// Logic, shifts and bit fields. Source: PTX ISA, "Logic and Shift Instructions", "Integer
// Arithmetic Instructions" (popc, clz, bfind, bfe, bfi, dp4a), "Data Movement" (prmt).
#include <bit>
#include <type_traits>

#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
constexpr auto kNot = [](auto a) { return static_cast<decltype(a)>(~a); };
constexpr auto kCnot = [](auto a) { return static_cast<decltype(a)>(a == 0 ? 1 : 0); };

// Shift amounts above the width are clamped, not wrapped.
template <class T>
T shift_left(T a, uint32_t count) {
  return count >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << count);
}
template <class T>
T shift_right(T a, uint32_t count) {
  if (count >= 8 * sizeof(T)) return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
  return static_cast<T>(a >> count);
}

// shf: a funnel of b:a
constexpr auto kFunnelLeftClamp = [](uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t n = c < 32 ? c : 32;
  return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << n) >> 32);
};
constexpr auto kFunnelLeftWrap = [](uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << (c & 31)) >> 32);
};
constexpr auto kFunnelRightClamp = [](uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t n = c < 32 ? c : 32;
  return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> n);
};
constexpr auto kFunnelRightWrap = [](uint32_t a, uint32_t b, uint32_t c) {
  return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> (c & 31));
};

template <class T>
uint32_t count_ones(T a) {
  return static_cast<uint32_t>(std::popcount(a));
}
template <class T>
uint32_t leading_zeros(T a) {
  return static_cast<uint32_t>(std::countl_zero(a));
}
template <class T>
T reverse_bits(T a) {
  T out = 0;
  for (size_t i = 0; i < 8 * sizeof(T); ++i, a >>= 1) out = static_cast<T>(out << 1 | (a & 1));
  return out;
}

// Position of the highest bit that is not a sign bit; all ones when there is none.
template <class T, bool kShiftAmount>
uint32_t find_bit(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = std::is_signed_v<T> && a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
  if (bits == 0) return 0xFFFFFFFFU;
  const auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
  return kShiftAmount ? zeros : static_cast<uint32_t>(8 * sizeof(T)) - 1 - zeros;
}

template <class T>
T extract_field(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kBits = 8 * sizeof(T);
  const uint32_t position = b & 0xFF;
  const uint32_t length = c & 0xFF;
  if (length == 0) return 0;
  const uint32_t top = position + length - 1 < kBits - 1 ? position + length - 1 : kBits - 1;
  const U sign = std::is_signed_v<T> ? static_cast<U>(static_cast<U>(a) >> top) & 1 : 0;
  const U field = position >= kBits ? 0 : static_cast<U>(a) >> position;
  const uint32_t kept = position > top ? 0 : top - position + 1;
  const U mask = kept >= kBits ? ~U{0} : (U{1} << kept) - 1;
  return static_cast<T>((field & mask) | (sign != 0 ? ~mask : U{0}));
}

template <class T>
T insert_field(T a, T b, uint32_t c, uint32_t d) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  const uint32_t position = c & 0xFF;
  const uint32_t length = d & 0xFF;
  if (position >= kBits || length == 0) return b;
  const T ones = length >= kBits ? ~T{0} : (T{1} << length) - 1;
  const T mask = ones << position;
  return (b & ~mask) | ((a << position) & mask);
}

uint32_t select_byte(uint64_t bytes, uint32_t selector) {
  const auto byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7))) & 0xFF;
  return (selector & 8) == 0 ? byte : (byte >> 7) * 0xFF;
}
constexpr auto kPermute = [](uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t out = 0;
  for (uint32_t i = 0; i < 4; ++i) out |= select_byte(bytes, c >> (4 * i)) << (8 * i);
  return out;
};

// prmt modes: the byte selected at each place, by c & 3
using PermuteTable = uint32_t[4];
constexpr PermuteTable kForward4 = {0x3210, 0x4321, 0x5432, 0x6543};
constexpr PermuteTable kBackward4 = {0x5670, 0x6701, 0x7012, 0x0123};
constexpr PermuteTable kReplicate8 = {0x0000, 0x1111, 0x2222, 0x3333};
constexpr PermuteTable kEdgeLeft = {0x3210, 0x3211, 0x3222, 0x3333};
constexpr PermuteTable kEdgeRight = {0x0000, 0x1110, 0x2210, 0x3210};
constexpr PermuteTable kReplicate16 = {0x1010, 0x3232, 0x1010, 0x3232};

template <const PermuteTable& kTable>
uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c) {
  return kPermute(a, b, kTable[c & 3]);
}

template <class A, class B>
int32_t dot4(A a_bytes, B b_bytes, int32_t c) {
  using SignedA = std::conditional_t<std::is_signed_v<A>, int8_t, uint8_t>;
  using SignedB = std::conditional_t<std::is_signed_v<B>, int8_t, uint8_t>;
  auto sum = static_cast<uint32_t>(c);
  // NOLINTBEGIN(bugprone-signed-char-misuse): the bytes are numbers, sign extension is meant
  for (int i = 0; i < 4; ++i) {
    const int32_t a = static_cast<SignedA>(static_cast<uint32_t>(a_bytes) >> (8 * i));
    const int32_t b = static_cast<SignedB>(static_cast<uint32_t>(b_bytes) >> (8 * i));
    sum += static_cast<uint32_t>(a * b);
  }
  // NOLINTEND(bugprone-signed-char-misuse)
  return static_cast<int32_t>(sum);
}

// --- decoding ---

template <auto F>
Execute logic_binary(Type type) {
  switch (size_of(type)) {
    case 2:
      return binary_of<F, uint16_t>;
    case 4:
      return binary_of<F, uint32_t>;
    case 8:
      return binary_of<F, uint64_t>;
    default:
      return nullptr;
  }
}

template <auto F>
Execute logic_unary(Type type) {
  switch (size_of(type)) {
    case 2:
      return unary_of<F, uint16_t>;
    case 4:
      return unary_of<F, uint32_t>;
    case 8:
      return unary_of<F, uint64_t>;
    default:
      return nullptr;
  }
}

template <auto F>
Step predicate_logic(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t a = warp.predicate(in.op[1]) ^ ((in.variant & 1) != 0 ? ~0U : 0U);
  const uint32_t b = warp.predicate(in.op[2]) ^ ((in.variant & 2) != 0 ? ~0U : 0U);
  uint32_t& d = warp.predicate(in.op[0]);
  d = (d & ~mask) | (F(a, b) & mask);
  return Step::next;
}

template <auto F>
bool decode_logic(DecodeContext& c) {
  if (!c.only({})) return false;
  const Type type = c.type();
  if (type == Type::pred) {
    if (!c.operand_count(3, 3)) return false;
    bool first = false;
    bool second = false;
    c.out.op[0] = c.predicate_destination(c.operand(0));
    c.out.op[1] = c.predicate_source(c.operand(1), first);
    c.out.op[2] = c.predicate_source(c.operand(2), second);
    c.out.variant = static_cast<uint16_t>((first ? 1 : 0) | (second ? 2 : 0));
    c.out.category = InstructionClass::predicate;
    return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.out.op[2] != kNoRow &&
           c.emit(predicate_logic<F>);
  }
  const Execute execute = logic_binary<F>(type);
  return execute == nullptr ? c.unknown() : c.emit(execute, type, {type, type});
}

bool decode_not(DecodeContext& c) {
  if (!c.only({})) return false;
  const Type type = c.type();
  if (type == Type::pred) {
    if (!c.operand_count(2, 2)) return false;
    bool negated = false;
    c.out.op[0] = c.predicate_destination(c.operand(0));
    c.out.op[1] = c.out.op[2] = c.predicate_source(c.operand(1), negated);
    c.out.variant = negated ? 0 : 3;
    c.out.category = InstructionClass::predicate;
    return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow && c.emit(predicate_logic<kAnd>);
  }
  const Execute execute = logic_unary<kNot>(type);
  return execute == nullptr ? c.unknown() : c.emit(execute, type, {type});
}

bool decode_cnot(DecodeContext& c) {
  const Execute execute = logic_unary<kCnot>(c.type());
  return c.only({}) && execute != nullptr ? c.emit(execute, c.type(), {c.type()}) : c.unknown();
}

bool decode_shl(DecodeContext& c) {
  const Type type = c.type();
  Execute execute = nullptr;
  if (size_of(type) == 2) execute = lanewise<shift_left<uint16_t>, uint16_t, uint16_t, uint32_t>;
  if (size_of(type) == 4) execute = lanewise<shift_left<uint32_t>, uint32_t, uint32_t, uint32_t>;
  if (size_of(type) == 8) execute = lanewise<shift_left<uint64_t>, uint64_t, uint64_t, uint32_t>;
  return c.only({}) && execute != nullptr ? c.emit(execute, type, {type, Type::u32}) : c.unknown();
}

template <class T>
constexpr Execute right_shift_of = lanewise<shift_right<T>, T, T, uint32_t>;

bool decode_shr(DecodeContext& c) {
  const Type type = c.type();
  const bool is_signed = type == Type::s16 || type == Type::s32 || type == Type::s64;
  Execute execute = nullptr;
  if (size_of(type) == 2) execute = is_signed ? right_shift_of<int16_t> : right_shift_of<uint16_t>;
  if (size_of(type) == 4) execute = is_signed ? right_shift_of<int32_t> : right_shift_of<uint32_t>;
  if (size_of(type) == 8) execute = is_signed ? right_shift_of<int64_t> : right_shift_of<uint64_t>;
  return c.only({}) && execute != nullptr ? c.emit(execute, type, {type, Type::u32}) : c.unknown();
}

template <auto F>
constexpr Execute ternary32 = lanewise<F, uint32_t, uint32_t, uint32_t, uint32_t>;

bool emit_ternary32(DecodeContext& c, Execute execute) {
  return c.emit(execute, Type::b32, {Type::b32, Type::b32, Type::b32});
}

bool decode_shf(DecodeContext& c) {
  if (!c.only({"l", "r", "clamp", "wrap"}) || c.type() != Type::b32) return c.unknown();
  if (c.has("l")) {
    return emit_ternary32(c,
                          c.has("wrap") ? ternary32<kFunnelLeftWrap> : ternary32<kFunnelLeftClamp>);
  }
  return emit_ternary32(c,
                        c.has("wrap") ? ternary32<kFunnelRightWrap> : ternary32<kFunnelRightClamp>);
}

bool decode_prmt(DecodeContext& c) {
  if (!c.only({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})) return false;
  if (c.has("f4e")) return emit_ternary32(c, ternary32<permute_mode<kForward4>>);
  if (c.has("b4e")) return emit_ternary32(c, ternary32<permute_mode<kBackward4>>);
  if (c.has("rc8")) return emit_ternary32(c, ternary32<permute_mode<kReplicate8>>);
  if (c.has("ecl")) return emit_ternary32(c, ternary32<permute_mode<kEdgeLeft>>);
  if (c.has("ecr")) return emit_ternary32(c, ternary32<permute_mode<kEdgeRight>>);
  if (c.has("rc16")) return emit_ternary32(c, ternary32<permute_mode<kReplicate16>>);
  return emit_ternary32(c, ternary32<kPermute>);
}

// Instruction::immediate is the truth table of 8 bits.
Step execute_lop3(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* a = warp.row<uint32_t>(in.op[1]);
  const auto* b = warp.row<uint32_t>(in.op[2]);
  const auto* c = warp.row<uint32_t>(in.op[3]);
  uint32_t values[kWarpSize] = {};
  for (uint32_t term = 0; term < 8; ++term) {
    if ((in.immediate >> term & 1) == 0) continue;
    const uint32_t not_a = (term & 4) != 0 ? 0 : ~0U;
    const uint32_t not_b = (term & 2) != 0 ? 0 : ~0U;
    const uint32_t not_c = (term & 1) != 0 ? 0 : ~0U;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      values[lane] |= (a[lane] ^ not_a) & (b[lane] ^ not_b) & (c[lane] ^ not_c);
    }
  }
  blend(warp.row<uint32_t>(in.op[0]), values, mask);
  return Step::next;
}

bool decode_lop3(DecodeContext& c) {
  if (!c.only({}) || c.type() != Type::b32) return c.unknown();
  if (!c.operand_count(5, 5) || !c.constant(c.operand(4), c.out.immediate)) return false;
  c.out.op[0] = c.destination(c.operand(0), Type::b32);
  for (size_t i = 1; i <= 3; ++i) {
    c.out.op[i] = c.source(c.operand(i), Type::b32);
    if (c.out.op[i] == kNoRow) return false;
  }
  return c.out.op[0] != kNoRow && c.emit(execute_lop3);
}

bool decode_popc(DecodeContext& c) {
  return c.type() == Type::b64
             ? c.emit(lanewise<count_ones<uint64_t>, uint32_t, uint64_t>, Type::u32, {Type::b64})
         : c.type() == Type::b32
             ? c.emit(lanewise<count_ones<uint32_t>, uint32_t, uint32_t>, Type::u32, {Type::b32})
             : c.unknown();
}
bool decode_clz(DecodeContext& c) {
  return c.type() == Type::b64
             ? c.emit(lanewise<leading_zeros<uint64_t>, uint32_t, uint64_t>, Type::u32, {Type::b64})
         : c.type() == Type::b32
             ? c.emit(lanewise<leading_zeros<uint32_t>, uint32_t, uint32_t>, Type::u32, {Type::b32})
             : c.unknown();
}
bool decode_brev(DecodeContext& c) {
  return c.type() == Type::b64
             ? c.emit(lanewise<reverse_bits<uint64_t>, uint64_t, uint64_t>, Type::b64, {Type::b64})
         : c.type() == Type::b32
             ? c.emit(lanewise<reverse_bits<uint32_t>, uint32_t, uint32_t>, Type::b32, {Type::b32})
             : c.unknown();
}

template <bool kShiftAmount>
bool decode_bfind_as(DecodeContext& c) {
  switch (c.type()) {
    case Type::u32:
      return c.emit(lanewise<find_bit<uint32_t, kShiftAmount>, uint32_t, uint32_t>, Type::u32,
                    {Type::u32});
    case Type::s32:
      return c.emit(lanewise<find_bit<int32_t, kShiftAmount>, uint32_t, int32_t>, Type::u32,
                    {Type::s32});
    case Type::u64:
      return c.emit(lanewise<find_bit<uint64_t, kShiftAmount>, uint32_t, uint64_t>, Type::u32,
                    {Type::u64});
    case Type::s64:
      return c.emit(lanewise<find_bit<int64_t, kShiftAmount>, uint32_t, int64_t>, Type::u32,
                    {Type::s64});
    default:
      return c.unknown();
  }
}
bool decode_bfind(DecodeContext& c) {
  if (!c.only({"shiftamt"})) return false;
  return c.has("shiftamt") ? decode_bfind_as<true>(c) : decode_bfind_as<false>(c);
}

template <class T>
constexpr Execute extract_of = lanewise<extract_field<T>, T, T, uint32_t, uint32_t>;

bool decode_bfe(DecodeContext& c) {
  Execute execute = nullptr;
  if (c.type() == Type::u32) execute = extract_of<uint32_t>;
  if (c.type() == Type::s32) execute = extract_of<int32_t>;
  if (c.type() == Type::u64) execute = extract_of<uint64_t>;
  if (c.type() == Type::s64) execute = extract_of<int64_t>;
  if (!c.only({}) || execute == nullptr) return c.unknown();
  return c.emit(execute, c.type(), {c.type(), Type::u32, Type::u32});
}

bool decode_bfi(DecodeContext& c) {
  if (!c.only({})) return false;
  const Type type = c.type();
  if (type != Type::b32 && type != Type::b64) return c.unknown();
  return c.emit(
      type == Type::b32
          ? lanewise<insert_field<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>
          : lanewise<insert_field<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>,
      type, {type, type, Type::u32, Type::u32});
}

template <class A, class B>
constexpr Execute dot4_of = lanewise<dot4<A, B>, int32_t, A, B, int32_t>;

bool decode_dp4a(DecodeContext& c) {
  const std::vector<Type> types = c.types();
  if (!c.only({}) || types.size() != 2) return c.unknown();
  const bool a = types[0] == Type::s32;
  const bool b = types[1] == Type::s32;
  const Execute execute = a ? (b ? dot4_of<int32_t, int32_t> : dot4_of<int32_t, uint32_t>)
                            : (b ? dot4_of<uint32_t, int32_t> : dot4_of<uint32_t, uint32_t>);
  return emit_ternary32(c, execute);
}

}  // namespace

void add_bit_operations(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::integer;
  set.add("and", decode_logic<kAnd>, kClass);
  set.add("or", decode_logic<kOr>, kClass);
  set.add("xor", decode_logic<kXor>, kClass);
  set.add("not", decode_not, kClass);
  set.add("cnot", decode_cnot, kClass);
  set.add("shl", decode_shl, kClass);
  set.add("shr", decode_shr, kClass);
  set.add("shf", decode_shf, kClass);
  set.add("prmt", decode_prmt, kClass);
  set.add("lop3", decode_lop3, kClass);
  set.add("popc", decode_popc, kClass);
  set.add("clz", decode_clz, kClass);
  set.add("brev", decode_brev, kClass);
  set.add("bfind", decode_bfind, kClass);
  set.add("bfe", decode_bfe, kClass);
  set.add("bfi", decode_bfi, kClass);
  set.add("dp4a", decode_dp4a, kClass);
}

}  // namespace gemmtune::ptxsim
