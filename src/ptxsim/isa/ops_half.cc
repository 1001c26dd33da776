// f16 and bf16 arithmetic, single and in pairs. Source: PTX ISA, "Half Precision Floating-Point
// Instructions".
//
// Each result is the exact value rounded once to nearest even, subnormals kept unless .ftz (f16). A
// NaN result is 0x7FFF.
#include <cmath>
#include <type_traits>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/arithmetic.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

struct Half {
  static double to_double(uint16_t x) { return half_to_float(x); }
  static uint16_t from_double(double x) { return float_to_half(to_odd_float(x)); }
  static constexpr uint16_t kInfinity = 0x7C00;
  static constexpr uint16_t kOne = 0x3C00;
};
struct Bfloat {
  static double to_double(uint16_t x) { return bfloat_to_float(x); }
  static uint16_t from_double(double x) { return float_to_bfloat(to_odd_float(x)); }
  static constexpr uint16_t kInfinity = 0x7F80;
  static constexpr uint16_t kOne = 0x3F80;
};

constexpr int kFtz = 1;
constexpr int kSat = 2;
constexpr int kRelu = 4;

template <class Format>
bool is_nan(uint16_t x) {
  return (x & 0x7FFF) > Format::kInfinity;
}

template <class Format, int kFlags>
uint16_t input(uint16_t x) {
  constexpr uint16_t kExponent = Format::kInfinity;
  return (kFlags & kFtz) != 0 && (x & kExponent) == 0 ? static_cast<uint16_t>(x & 0x8000) : x;
}

template <class Format, int kFlags>
uint16_t output(double value) {
  uint16_t r = Format::from_double(value);
  if ((kFlags & kFtz) != 0 && (r & Format::kInfinity) == 0) r &= 0x8000;
  if ((kFlags & kSat) != 0) {
    if (is_nan<Format>(r) || (r & 0x8000) != 0) r = 0;
    if (r > Format::kOne) r = Format::kOne;
  }
  if ((kFlags & kRelu) != 0) {
    if (is_nan<Format>(r)) return kNan16;
    if ((r & 0x8000) != 0) r = 0;
  }
  return r;
}

struct Add {};
struct Sub {};
struct Mul {};

// Sums of bf16 may need more than 53 bits; rounding to odd keeps what matters.
template <class Operation, class Format, int kFlags>
uint16_t two(uint16_t a, uint16_t b) {
  const double x = Format::to_double(input<Format, kFlags>(a));
  const double y = Format::to_double(input<Format, kFlags>(b));
  if constexpr (std::is_same_v<Operation, Mul>) return output<Format, kFlags>(x * y);
  return output<Format, kFlags>(add_to_odd(x, std::is_same_v<Operation, Sub> ? -y : y));
}

template <class Format, int kFlags>
uint16_t three(uint16_t a, uint16_t b, uint16_t c) {
  const double x = Format::to_double(input<Format, kFlags>(a));
  const double y = Format::to_double(input<Format, kFlags>(b));
  const double z = Format::to_double(input<Format, kFlags>(c));
  return output<Format, kFlags>(add_to_odd(x * y, z));  // the product is exact
}

template <class Format, bool kLarger, int kFlags>
uint16_t extremum(uint16_t a, uint16_t b) {
  constexpr bool kNan = (kFlags & 8) != 0;
  a = input<Format, kFlags>(a);
  b = input<Format, kFlags>(b);
  if (is_nan<Format>(a)) return kNan || is_nan<Format>(b) ? kNan16 : b;
  if (is_nan<Format>(b)) return kNan ? kNan16 : a;
  // Order of the bit patterns as sign and magnitude: -0 is less than +0.
  const auto key = [](uint16_t x) { return (x & 0x8000) != 0 ? 0x7FFF - x : int{x}; };
  return (key(a) < key(b)) == kLarger ? b : a;
}

template <class Format>
uint16_t negate(uint16_t x) {
  return is_nan<Format>(x) ? kNan16 : x ^ 0x8000;
}
template <class Format>
uint16_t magnitude(uint16_t x) {
  return is_nan<Format>(x) ? kNan16 : x & 0x7FFF;
}

template <auto F>
uint32_t pair_of_one(uint32_t a) {
  return F(static_cast<uint16_t>(a)) | uint32_t{F(static_cast<uint16_t>(a >> 16))} << 16;
}
template <auto F>
uint32_t pair_of_two(uint32_t a, uint32_t b) {
  return F(static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         uint32_t{F(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16;
}
template <auto F>
uint32_t pair_of_three(uint32_t a, uint32_t b, uint32_t c) {
  return F(static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c)) |
         uint32_t{F(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16),
                    static_cast<uint16_t>(c >> 16))}
             << 16;
}

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2;
}
bool is_bfloat(Type type) {
  return type == Type::bf16 || type == Type::bf16x2;
}
Type register_type(Type type) {
  return is_pair(type) ? Type::b32 : Type::b16;
}

template <auto F>
Execute unary(Type type) {
  return is_pair(type) ? lanewise<pair_of_one<F>, uint32_t, uint32_t>
                       : lanewise<F, uint16_t, uint16_t>;
}
template <auto F>
Execute binary(Type type) {
  return is_pair(type) ? lanewise<pair_of_two<F>, uint32_t, uint32_t, uint32_t>
                       : lanewise<F, uint16_t, uint16_t, uint16_t>;
}
template <auto F>
Execute ternary(Type type) {
  return is_pair(type) ? lanewise<pair_of_three<F>, uint32_t, uint32_t, uint32_t, uint32_t>
                       : lanewise<F, uint16_t, uint16_t, uint16_t, uint16_t>;
}

int flags_of(const DecodeContext& c) {
  return (c.has("ftz") ? kFtz : 0) | (c.has("sat") ? kSat : 0) | (c.has("relu") ? kRelu : 0);
}

template <class Operation, int kFlags>
Execute pick_binary(Type type) {
  return is_bfloat(type) ? binary<two<Operation, Bfloat, kFlags>>(type)
                         : binary<two<Operation, Half, kFlags>>(type);
}
template <int kFlags>
Execute pick_fma(Type type) {
  return is_bfloat(type) ? ternary<three<Bfloat, kFlags>>(type)
                         : ternary<three<Half, kFlags>>(type);
}

template <class Operation>
bool decode_binary(DecodeContext& c) {
  if (!c.only({"rn", "ftz", "sat"})) return false;
  const Type type = c.type();
  Execute execute = nullptr;
  switch (flags_of(c)) {
    case 0:
      execute = pick_binary<Operation, 0>(type);
      break;
    case kFtz:
      execute = pick_binary<Operation, kFtz>(type);
      break;
    case kSat:
      execute = pick_binary<Operation, kSat>(type);
      break;
    default:
      execute = pick_binary<Operation, kFtz | kSat>(type);
      break;
  }
  const Type reg = register_type(type);
  return c.emit(execute, reg, {reg, reg});
}

template <bool kLarger>
bool decode_extremum(DecodeContext& c) {
  if (!c.only({"ftz", "NaN"})) return false;
  const Type type = c.type();
  Execute execute = nullptr;
  if (is_bfloat(type)) {
    execute = c.has("NaN") ? binary<extremum<Bfloat, kLarger, 8>>(type)
                           : binary<extremum<Bfloat, kLarger, 0>>(type);
  } else if (c.has("ftz")) {
    execute = c.has("NaN") ? binary<extremum<Half, kLarger, 9>>(type)
                           : binary<extremum<Half, kLarger, 1>>(type);
  } else {
    execute = c.has("NaN") ? binary<extremum<Half, kLarger, 8>>(type)
                           : binary<extremum<Half, kLarger, 0>>(type);
  }
  const Type reg = register_type(type);
  return c.emit(execute, reg, {reg, reg});
}

}  // namespace

bool decode_half_add(DecodeContext& c) {
  return decode_binary<Add>(c);
}
bool decode_half_sub(DecodeContext& c) {
  return decode_binary<Sub>(c);
}
bool decode_half_mul(DecodeContext& c) {
  return decode_binary<Mul>(c);
}

bool decode_half_fma(DecodeContext& c) {
  if (!c.only({"rn", "ftz", "sat", "relu"})) return false;
  const Type type = c.type();
  Execute execute = nullptr;
  switch (flags_of(c)) {
    case 0:
      execute = pick_fma<0>(type);
      break;
    case kFtz:
      execute = pick_fma<kFtz>(type);
      break;
    case kSat:
      execute = pick_fma<kSat>(type);
      break;
    case kRelu:
      execute = pick_fma<kRelu>(type);
      break;
    case kFtz | kSat:
      execute = pick_fma<kFtz | kSat>(type);
      break;
    case kFtz | kRelu:
      execute = pick_fma<kFtz | kRelu>(type);
      break;
    default:
      return c.unknown();
  }
  const Type reg = register_type(type);
  return c.emit(execute, reg, {reg, reg, reg});
}

bool decode_half_min(DecodeContext& c) {
  return decode_extremum<false>(c);
}
bool decode_half_max(DecodeContext& c) {
  return decode_extremum<true>(c);
}

bool decode_half_abs(DecodeContext& c) {
  if (!c.only({})) return false;
  const Type reg = register_type(c.type());
  return c.emit(
      is_bfloat(c.type()) ? unary<magnitude<Bfloat>>(c.type()) : unary<magnitude<Half>>(c.type()),
      reg, {reg});
}
bool decode_half_neg(DecodeContext& c) {
  if (!c.only({})) return false;
  const Type reg = register_type(c.type());
  return c.emit(
      is_bfloat(c.type()) ? unary<negate<Bfloat>>(c.type()) : unary<negate<Half>>(c.type()), reg,
      {reg});
}

}  // namespace gemmtune::ptxsim
