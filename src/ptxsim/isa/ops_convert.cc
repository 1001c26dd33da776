// cvt. Source: PTX ISA, "cvt", "cvt.pack" (not simulated).
//
// Float to integer saturates to the integer's range. NaN gives 0, but the integer whose only one is
// the top bit when the source is f64 or the destination has 64 bits. Integer to integer keeps the
// low bits (or saturates with .sat). Everything else is rounded once, by the stated mode.
//
// NaN to float is the canonical NaN (half.h), except, as an H200 does: from f64 it keeps the upper
// bits of the payload, and tf32 has its low 13 bits clear (see half.h).
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/arithmetic.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint16_t kFtz = 1;
constexpr uint16_t kSat = 2;
constexpr uint16_t kRelu = 4;
constexpr uint16_t kInteger = 8;  // rni, rzi...: round to an integral value

enum class Format : uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, none };

Format format_of(Type type) {
  switch (type) {
    case Type::u8:
      return Format::u8;
    case Type::s8:
      return Format::s8;
    case Type::u16:
      return Format::u16;
    case Type::s16:
      return Format::s16;
    case Type::u32:
      return Format::u32;
    case Type::s32:
      return Format::s32;
    case Type::u64:
      return Format::u64;
    case Type::s64:
      return Format::s64;
    case Type::f16:
      return Format::f16;
    case Type::bf16:
      return Format::bf16;
    case Type::f32:
      return Format::f32;
    case Type::f64:
      return Format::f64;
    default:
      return Format::none;
  }
}

bool is_floating(Format format) {
  return format >= Format::f16 && format <= Format::f64;
}

Rounding rounding_of(const DecodeContext& c) {
  if (c.has("rz") || c.has("rzi")) return Rounding::toward_zero;
  if (c.has("rm") || c.has("rmi")) return Rounding::down;
  if (c.has("rp") || c.has("rpi")) return Rounding::up;
  if (c.has("rna")) return Rounding::nearest_away;
  return Rounding::nearest_even;
}

double to_integral(double x, Rounding mode) {
  switch (mode) {
    case Rounding::toward_zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    case Rounding::nearest_away:
      return std::round(x);
    case Rounding::nearest_even:
      return std::nearbyint(x);
  }
  return x;
}

// double -> float with the mode stated; f64 holds every f32, f16 and bf16 exactly.
float narrow(double x, Rounding mode) {
  const auto nearest = static_cast<float>(x);
  if (mode == Rounding::nearest_even || std::isnan(x) || static_cast<double>(nearest) == x) {
    return nearest;
  }
  const bool too_large = static_cast<double>(nearest) > x;
  const bool want_larger = mode == Rounding::up || (mode == Rounding::toward_zero && x < 0);
  if (too_large == want_larger) return nearest;
  return std::nextafter(nearest, want_larger ? std::numeric_limits<float>::infinity()
                                             : -std::numeric_limits<float>::infinity());
}

float flush(float x) {
  return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x;
}

template <class T>
T integer_from(double x, Rounding mode, bool from_double) {
  if (std::isnan(x)) {
    if (!from_double && sizeof(T) < 8) return 0;
    return static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1));
  }
  const double whole = to_integral(x, mode);
  if (whole >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  if (whole <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(whole);
}

template <class To, class From>
To integer_to_integer(From x, bool saturates) {
  if (!saturates) return static_cast<To>(x);
  using Big = __int128;
  // NOLINTBEGIN(bugprone-signed-char-misuse): numbers, not characters
  const Big low = std::numeric_limits<To>::min();
  const Big high = std::numeric_limits<To>::max();
  const Big value = x;
  // NOLINTEND(bugprone-signed-char-misuse)
  return static_cast<To>(value < low ? low : value > high ? high : value);
}

// Rows may be wider than the type: Instruction::immediate holds the bytes, source << 8 |
// destination.
uint64_t load_lane(Warp& warp, Row row, uint32_t width, uint32_t lane) {
  switch (width) {
    case 1:
      return warp.row<uint8_t>(row)[lane];
    case 2:
      return warp.row<uint16_t>(row)[lane];
    case 4:
      return warp.row<uint32_t>(row)[lane];
    default:
      return warp.row<uint64_t>(row)[lane];
  }
}
void store_lane(Warp& warp, Row row, uint32_t width, uint32_t lane, uint64_t value) {
  switch (width) {
    case 1:
      warp.row<uint8_t>(row)[lane] = static_cast<uint8_t>(value);
      break;
    case 2:
      warp.row<uint16_t>(row)[lane] = static_cast<uint16_t>(value);
      break;
    case 4:
      warp.row<uint32_t>(row)[lane] = static_cast<uint32_t>(value);
      break;
    default:
      warp.row<uint64_t>(row)[lane] = value;
      break;
  }
}

double float_value(Format format, uint64_t bits) {
  switch (format) {
    case Format::f16:
      return half_to_float(static_cast<uint16_t>(bits));
    case Format::bf16:
      return bfloat_to_float(static_cast<uint16_t>(bits));
    case Format::f32:
      return float_of(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

// A NaN of f64 in a narrower format: quiet, with the sign and the upper bits of the payload.
uint64_t narrowed_nan(Format to, uint64_t bits) {
  bits |= 0x0008000000000000U;
  if (to == Format::f32) {
    return (bits >> 32 & 0x80000000U) | 0x7F800000U | (bits >> 29 & 0x7FFFFFU);
  }
  if (to == Format::f16) return (bits >> 48 & 0x8000U) | 0x7C00U | (bits >> 42 & 0x3FFU);
  return (bits >> 48 & 0x8000U) | 0x7F80U | (bits >> 45 & 0x7FU);
}

uint64_t float_bits(Format format, double x, const Instruction& in, Rounding mode) {
  const bool saturates = (in.variant & kSat) != 0;
  if ((in.variant & kInteger) != 0) x = to_integral(x, mode);
  if (saturates) x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
  if ((in.variant & kRelu) != 0 && x <= 0) x = 0.0;  // -0 too
  switch (format) {
    case Format::f16: {
      const auto odd = to_odd_float(x);
      return float_to_half(odd, mode);
    }
    case Format::bf16:
      return float_to_bfloat(to_odd_float(x), mode);
    case Format::f32: {
      float value = narrow(x, mode);
      if ((in.variant & kFtz) != 0) value = flush(value);
      return value != value ? kNan32 : bits_of(value);
    }
    default:
      return std::bit_cast<uint64_t>(x);
  }
}

// 64-bit integers do not fit a double: rounded directly.
uint64_t float_bits_of_integer(Format format, uint64_t bits, bool is_signed, const Instruction& in,
                               Rounding mode) {
  const bool negative = is_signed && static_cast<int64_t>(bits) < 0;
  const uint64_t magnitude = negative ? ~bits + 1 : bits;
  // Split so that each half is exact; the sum, rounded to odd, keeps what a later rounding needs.
  const double high = static_cast<double>(magnitude >> 32) * 0x1p32;
  const double low = static_cast<double>(magnitude & 0xFFFFFFFFU);
  if (format == Format::f64) {
    const int before = std::fegetround();
    const int host = mode == Rounding::toward_zero ? FE_TOWARDZERO
                     : mode == Rounding::down      ? FE_DOWNWARD
                     : mode == Rounding::up        ? FE_UPWARD
                                                   : FE_TONEAREST;
    std::fesetround(host);
    volatile double a = negative ? -high : high;
    volatile double b = negative ? -low : low;
    volatile double sum = a + b;
    std::fesetround(before);
    return std::bit_cast<uint64_t>(double{sum});
  }
  const double odd = add_to_odd(negative ? -high : high, negative ? -low : low);
  return float_bits(format, odd, in, mode);
}

uint64_t sign_extended(Format format, uint64_t bits) {
  switch (format) {
    case Format::s8:
      return static_cast<uint64_t>(int64_t{static_cast<int8_t>(bits)});
    case Format::s16:
      return static_cast<uint64_t>(int64_t{static_cast<int16_t>(bits)});
    case Format::s32:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)});
    case Format::u8:
      return bits & 0xFF;
    case Format::u16:
      return bits & 0xFFFF;
    case Format::u32:
      return bits & 0xFFFFFFFF;
    default:
      return bits;
  }
}

bool is_signed(Format format) {
  return format == Format::s8 || format == Format::s16 || format == Format::s32 ||
         format == Format::s64;
}

// The value as the destination's bits, sign- or zero-extended to 64.
template <class Value>
uint64_t to_integer(Format to, Value value, bool saturates, Rounding mode,
                    bool from_double = false) {
  const auto convert = [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    T out = 0;
    if constexpr (std::is_same_v<Value, double>) {
      out = integer_from<T>(value, mode, from_double);
    } else {
      out = integer_to_integer<T>(value, saturates);
    }
    if constexpr (std::is_signed_v<T>) return static_cast<uint64_t>(int64_t{out});
    return out;
  };
  switch (to) {
    case Format::u8:
      return convert(uint8_t{0});
    case Format::s8:
      return convert(int8_t{0});
    case Format::u16:
      return convert(uint16_t{0});
    case Format::s16:
      return convert(int16_t{0});
    case Format::u32:
      return convert(uint32_t{0});
    case Format::s32:
      return convert(int32_t{0});
    case Format::u64:
      return convert(uint64_t{0});
    default:
      return convert(int64_t{0});
  }
}

uint64_t convert(Format from, Format to, uint64_t bits, const Instruction& in, Rounding mode) {
  if (is_floating(from)) {
    double x = float_value(from, bits);
    if ((in.variant & kFtz) != 0 && from == Format::f32) x = flush(static_cast<float>(x));
    if (!is_floating(to)) return to_integer(to, x, true, mode, from == Format::f64);
    const bool narrows = from == Format::f64 && to != Format::f64;
    if (narrows && std::isnan(x) && in.variant == 0) return narrowed_nan(to, bits);
    return float_bits(to, x, in, mode);
  }
  const uint64_t value = sign_extended(from, bits);
  if (is_floating(to)) return float_bits_of_integer(to, value, is_signed(from), in, mode);
  const bool saturates = (in.variant & kSat) != 0;
  if (is_signed(from)) return to_integer(to, static_cast<int64_t>(value), saturates, mode);
  return to_integer(to, value, saturates, mode);
}

// The general case; op[2] packs the formats and the mode.
Step execute_cvt(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto from = static_cast<Format>(in.op[2] & 0xFF);
  const auto to = static_cast<Format>(in.op[2] >> 8 & 0xFF);
  const auto mode = static_cast<Rounding>(in.op[2] >> 16 & 0xFF);
  const auto source_width = static_cast<uint32_t>(in.immediate >> 8);
  const auto width = static_cast<uint32_t>(in.immediate & 0xFF);
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t bits = load_lane(warp, in.op[1], source_width, lane);
    store_lane(warp, in.op[0], width, lane, convert(from, to, bits, in, mode));
  });
  return Step::next;
}

// The usual ones, vectorised: integers of 32 and 64 bits without .sat, and f32 <-> 16 bits.
template <class To, class From>
To plain(From x) {
  return static_cast<To>(x);
}
template <class To, class From>
constexpr Execute plain_of = lanewise<plain<To, From>, To, From>;

uint16_t half_of_float(float x) {
  return float_to_half(x);
}
uint16_t bfloat_of_float(float x) {
  return float_to_bfloat(x);
}
float canonical_half(uint16_t x) {
  return (x & 0x7FFF) > 0x7C00 ? float_of(kNan32) : half_to_float(x);
}
float canonical_bfloat(uint16_t x) {
  return (x & 0x7FFF) > 0x7F80 ? float_of(kNan32) : bfloat_to_float(x);
}

Execute fast_path(Format from, Format to, uint16_t variant, Rounding mode) {
  if (variant != 0) return nullptr;
  const bool from32 = from == Format::u32 || from == Format::s32;
  const bool from64 = from == Format::u64 || from == Format::s64;
  const bool to32 = to == Format::u32 || to == Format::s32;
  const bool to64 = to == Format::u64 || to == Format::s64;
  if (from64 && to32) return plain_of<uint32_t, uint64_t>;
  if (from == Format::s32 && to64) return plain_of<int64_t, int32_t>;
  if (from == Format::u32 && to64) return plain_of<uint64_t, uint32_t>;
  if (from32 && to32) return plain_of<uint32_t, uint32_t>;
  if (from64 && to64) return plain_of<uint64_t, uint64_t>;
  if (mode != Rounding::nearest_even) return nullptr;
  if (from == Format::s32 && to == Format::f32) return plain_of<float, int32_t>;
  if (from == Format::u32 && to == Format::f32) return plain_of<float, uint32_t>;
  if (from == Format::f32 && to == Format::f16) return lanewise<half_of_float, uint16_t, float>;
  if (from == Format::f32 && to == Format::bf16) return lanewise<bfloat_of_float, uint16_t, float>;
  if (from == Format::f16 && to == Format::f32) return lanewise<canonical_half, float, uint16_t>;
  if (from == Format::bf16 && to == Format::f32) return lanewise<canonical_bfloat, float, uint16_t>;
  return nullptr;
}

uint32_t bytes_of(Format format) {
  static constexpr uint32_t kBytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 0};
  return kBytes[static_cast<size_t>(format)];
}

// --- two floats into a pair: cvt.rn.f16x2.f32 d, a, b puts a in the high half ---

template <bool kBfloat>
Step execute_pair(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* a = warp.row<float>(in.op[1]);
  const auto* b = warp.row<float>(in.op[2]);
  const auto mode = static_cast<Rounding>(in.immediate);
  const auto one = [&](float x) -> uint32_t {
    if ((in.variant & kRelu) != 0 && x <= 0) x = 0;  // -0 too
    return kBfloat ? float_to_bfloat(x, mode) : float_to_half(x, mode);
  };
  uint32_t values[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    values[lane] = one(a[lane]) << 16 | one(b[lane]);
  blend(warp.row<uint32_t>(in.op[0]), values, mask);
  return Step::next;
}

// --- two floats into a pair of bytes: cvt.rn.satfinite.e4m3x2.f32 d, a, b puts a in the high one
// ---

// What is too large, infinity too, becomes the largest number. NaN is taken to be 0x7F.
uint32_t saturated_e5m2(float x) {
  constexpr uint32_t kLargest = 0x7B;
  if (x != x) return 0x7F;
  const uint32_t bits = e5m2_bits(x);
  return (bits & 0x80) | std::min(bits & 0x7F, kLargest);
}
uint32_t saturated_e4m3(float x) {
  return x != x ? 0x7F : e4m3_bits(x);
}

template <uint32_t (*kByteOf)(float)>
Step execute_byte_pair(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto* a = warp.row<float>(in.op[1]);
  const auto* b = warp.row<float>(in.op[2]);
  uint16_t values[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane)
    values[lane] = static_cast<uint16_t>(kByteOf(a[lane]) << 8 | kByteOf(b[lane]));
  blend(warp.row<uint16_t>(in.op[0]), values, mask);
  return Step::next;
}

bool decode_byte_pair(DecodeContext& c) {
  const std::vector<Type> types = c.types();
  if (!c.only({"rn", "satfinite", "e4m3x2", "e5m2x2"}) || !c.has("rn") || !c.has("satfinite") ||
      types.size() != 1 || types[0] != Type::f32) {
    return c.unknown();
  }
  return c.emit(
      c.has("e4m3x2") ? execute_byte_pair<saturated_e4m3> : execute_byte_pair<saturated_e5m2>,
      Type::b16, {Type::f32, Type::f32});
}

float tf32_away(float x) {
  return round_to_tf32(x, Rounding::nearest_away);
}
float tf32_even(float x) {
  return round_to_tf32(x, Rounding::nearest_even);
}
float tf32_zero(float x) {
  return round_to_tf32(x, Rounding::toward_zero);
}

bool decode_tf32(DecodeContext& c) {
  if (!c.only({"rna", "rn", "rz"}) || c.types()[1] != Type::f32) return c.unknown();
  const Execute execute = c.has("rna")  ? lanewise<tf32_away, float, float>
                          : c.has("rz") ? lanewise<tf32_zero, float, float>
                                        : lanewise<tf32_even, float, float>;
  return c.emit(execute, Type::b32, {Type::f32});
}

bool decode_cvt(DecodeContext& c) {
  if (c.has("e4m3x2") || c.has("e5m2x2")) return decode_byte_pair(c);
  const std::vector<Type> types = c.types();
  if (types.size() != 2) return c.unknown();
  if (types[0] == Type::tf32) return decode_tf32(c);
  if (!c.only({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "ftz", "sat", "relu"})) {
    return false;
  }
  const Rounding mode = rounding_of(c);
  const bool integral = c.has("rni") || c.has("rzi") || c.has("rmi") || c.has("rpi");
  c.out.variant = static_cast<uint16_t>((c.has("ftz") ? kFtz : 0) | (c.has("sat") ? kSat : 0) |
                                        (c.has("relu") ? kRelu : 0) | (integral ? kInteger : 0));
  if (types[0] == Type::f16x2 || types[0] == Type::bf16x2) {
    if (types[1] != Type::f32 || (c.out.variant & ~kRelu) != 0) return c.unknown();
    c.out.immediate = static_cast<int64_t>(mode);
    return c.emit(types[0] == Type::f16x2 ? execute_pair<false> : execute_pair<true>, Type::b32,
                  {Type::f32, Type::f32});
  }
  const Format to = format_of(types[0]);
  const Format from = format_of(types[1]);
  if (to == Format::none || from == Format::none) return c.unknown();
  if (!c.operand_count(2, 2)) return false;
  uint32_t width = 0;
  uint32_t source_width = 0;
  c.out.op[0] = c.loose_destination(c.operand(0), types[0], width);
  c.out.op[1] = c.loose_source(c.operand(1), types[1], source_width);
  if (c.out.op[0] == kNoRow || c.out.op[1] == kNoRow) return false;
  const bool between_integers = from <= Format::s64 && to <= Format::s64;
  if (between_integers && bytes_of(to) <= 4 && (c.out.variant & kSat) == 0) c.reads_low_word_only();
  const Execute fast = fast_path(from, to, c.out.variant, mode);
  if (fast != nullptr && width == bytes_of(to) && source_width == bytes_of(from)) {
    return c.emit(fast);
  }
  c.out.op[2] = static_cast<uint32_t>(from) | static_cast<uint32_t>(to) << 8 |
                static_cast<uint32_t>(mode) << 16;
  c.out.immediate = source_width << 8 | width;
  return c.emit(execute_cvt);
}

}  // namespace

void add_conversions(InstructionSet& set) {
  set.add("cvt", decode_cvt, InstructionClass::convert);
}

}  // namespace gemmtune::ptxsim
