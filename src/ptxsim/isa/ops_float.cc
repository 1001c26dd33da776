// f32 and f64 arithmetic. Source: PTX ISA, "Floating-Point Instructions".
//
// Every result is rounded once. Subnormals are kept unless .ftz, which makes subnormal inputs and
// results zero of the same sign. A NaN result of an f32 instruction is 0x7FFFFFFF.
#include <cfenv>
#include <cmath>
#include <limits>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/arithmetic.h"
#include "ptxsim/isa/float_lanes.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

float flush(float x) {
  const uint32_t bits = bits_of(x);
  return (bits & 0x7F800000U) == 0 ? float_of(bits & 0x80000000U) : x;
}
float canonical(float x) {
  return x != x ? float_of(kNan32) : x;
}
double canonical(double x) {
  return x;
}
float saturate(float x) {
  return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F;
}  // NaN gives 0

// kFlags: what the modifiers ask.
constexpr int kFtz = 1;
constexpr int kSat = 2;

template <auto F, int kFlags>
float two(float a, float b) {
  if constexpr ((kFlags & kFtz) != 0) {
    a = flush(a);
    b = flush(b);
  }
  float r = canonical(F(a, b));
  if constexpr ((kFlags & kFtz) != 0) r = flush(r);
  if constexpr ((kFlags & kSat) != 0) r = saturate(r);
  return r;
}

template <int kFlags>
float three(float a, float b, float c) {
  if constexpr ((kFlags & kFtz) != 0) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  float r = canonical(std::fma(a, b, c));
  if constexpr ((kFlags & kFtz) != 0) r = flush(r);
  if constexpr ((kFlags & kSat) != 0) r = saturate(r);
  return r;
}

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kDiv = [](auto a, auto b) { return a / b; };

// One NaN operand gives the other operand; -0 is less than +0.
template <class T>
T smaller(T a, T b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  if (a != a) return canonical(b);
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <auto F, bool kFtzInput, bool kNan>
float extremum(float a, float b) {
  if constexpr (kFtzInput) {
    a = flush(a);
    b = flush(b);
  }
  if constexpr (kNan) {
    if (a != a || b != b) return float_of(kNan32);
  }
  return F(a, b);
}

int rounding_of(const DecodeContext& c) {
  if (c.has("rz")) return FE_TOWARDZERO;
  if (c.has("rm")) return FE_DOWNWARD;
  if (c.has("rp")) return FE_UPWARD;
  return FE_TONEAREST;
}

// Directed rounding sets the host's mode around a loop that the compiler must not move. Each
// operand goes through a volatile, so nothing is folded or hoisted.
template <class T, int kOperation>
Step directed(Warp& warp, const Instruction& in, uint32_t mask) {
  T* d = warp.row<T>(in.op[0]);
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  const T* c = kOperation == 3 ? warp.row<T>(in.op[3]) : a;
  const bool ftz = (in.variant & kFtz) != 0;
  const bool sat = (in.variant & kSat) != 0;
  const int before = std::fegetround();
  std::fesetround(static_cast<int>(in.immediate));
  for_lanes(mask, [&](uint32_t lane) {
    volatile T x = a[lane];
    volatile T y = b[lane];
    volatile T z = c[lane];
    if constexpr (sizeof(T) == 4) {
      if (ftz) {
        x = flush(x);
        y = flush(y);
        z = flush(z);
      }
    }
    volatile T r = 0;
    if constexpr (kOperation == 0) r = x + y;
    if constexpr (kOperation == 1) r = x - y;
    if constexpr (kOperation == 2) r = x * y;
    if constexpr (kOperation == 3) r = std::fma(T{x}, T{y}, T{z});
    if constexpr (kOperation == 4) r = x / y;
    T value = canonical(T{r});
    if constexpr (sizeof(T) == 4) {
      if (ftz) value = flush(value);
      if (sat) value = saturate(value);
    }
    d[lane] = value;
  });
  std::fesetround(before);
  return Step::next;
}

uint16_t flags_of(const DecodeContext& c) {
  return static_cast<uint16_t>((c.has("ftz") ? kFtz : 0) | (c.has("sat") ? kSat : 0));
}

template <template <int> class Pick>
Execute by_flags(uint16_t flags) {
  switch (flags) {
    case 0:
      return Pick<0>::execute;
    case kFtz:
      return Pick<kFtz>::execute;
    case kSat:
      return Pick<kSat>::execute;
    default:
      return Pick<kFtz | kSat>::execute;
  }
}

template <auto F>
struct Binary {
  template <int kFlags>
  struct With {
    static constexpr Execute execute = lanewise<two<F, kFlags>, float, float, float>;
  };
};
template <int kFlags>
struct Fused {
  static constexpr Execute execute = lanewise<three<kFlags>, float, float, float, float>;
};

template <auto F, int kOperation>
bool emit_binary(DecodeContext& c) {
  const Type type = c.type();
  const int rounding = rounding_of(c);
  const uint16_t flags = flags_of(c);
  Execute execute = nullptr;
  if (rounding != FE_TONEAREST) {
    c.out.immediate = rounding;
    c.out.variant = flags;
    execute = type == Type::f32 ? directed<float, kOperation> : directed<double, kOperation>;
  } else if (type == Type::f64) {
    execute = lanewise<F, double, double, double>;
  } else {
    execute = by_flags<Binary<F>::template With>(flags);
  }
  return c.emit(execute, type, {type, type});
}

template <auto F, int kOperation>
bool decode_binary(DecodeContext& c) {
  return c.only({"rn", "rz", "rm", "rp", "ftz", "sat"}) && emit_binary<F, kOperation>(c);
}

template <class T>
Step execute_fma(Warp& warp, const Instruction& in, uint32_t mask) {
  T* d = warp.row<T>(in.op[0]);
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  const T* c = warp.row<T>(in.op[3]);
  if (mask == kAllLanes) {
    fma_lanes(d, a, b, c);
    return Step::next;
  }
  T values[kWarpSize];
  fma_lanes(values, a, b, c);
  blend(d, values, mask);
  return Step::next;
}

// abs and neg of a NaN, as an H200 does: f32 gives the canonical NaN, f64 the NaN as it was.
float magnitude(float x) {
  return canonical(std::fabs(x));
}
float negation(float x) {
  return canonical(-x);
}
double magnitude(double x) {
  return std::fabs(x);
}
double negation(double x) {
  return x != x ? x : -x;
}
float flushed_magnitude(float x) {
  return canonical(flush(std::fabs(x)));
}
float flushed_negation(float x) {
  return canonical(flush(-x));
}

template <auto F>
Execute pick_extremum(bool ftz, bool nan) {
  if (nan) {
    return ftz ? lanewise<extremum<F, true, true>, float, float, float>
               : lanewise<extremum<F, false, true>, float, float, float>;
  }
  return ftz ? lanewise<extremum<F, true, false>, float, float, float>
             : lanewise<extremum<F, false, false>, float, float, float>;
}

template <auto F32, auto F64>
bool decode_extremum(DecodeContext& c) {
  if (!c.only({"ftz", "NaN"})) return false;
  if (c.type() == Type::f64) {
    return c.emit(lanewise<F64, double, double, double>, Type::f64, {Type::f64, Type::f64});
  }
  return c.emit(pick_extremum<F32>(c.has("ftz"), c.has("NaN")), Type::f32, {Type::f32, Type::f32});
}

// copysign d, a, b: b with the sign of a
template <class T>
T copy_sign(T a, T b) {
  return std::copysign(b, a);
}

// --- testp ---

enum class Property { finite, infinite, number, notanumber, normal, subnormal };

template <class T, Property kProperty>
Step execute_testp(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = warp.row<T>(in.op[1]);
  uint32_t result = 0;
  for_lanes(mask, [&](uint32_t lane) {
    const int kind = std::fpclassify(a[lane]);
    bool yes = false;
    if (kProperty == Property::finite) yes = kind != FP_NAN && kind != FP_INFINITE;
    if (kProperty == Property::infinite) yes = kind == FP_INFINITE;
    if (kProperty == Property::number) yes = kind != FP_NAN;
    if (kProperty == Property::notanumber) yes = kind == FP_NAN;
    // PTX ISA: both zeros count as normal.
    if (kProperty == Property::normal) yes = kind == FP_NORMAL || kind == FP_ZERO;
    if (kProperty == Property::subnormal) yes = kind == FP_SUBNORMAL;
    result |= (yes ? 1U : 0U) << lane;
  });
  uint32_t& d = warp.predicate(in.op[0]);
  d = (d & ~mask) | result;
  return Step::next;
}

template <class T>
Execute testp_of(const DecodeContext& c) {
  if (c.has("finite")) return execute_testp<T, Property::finite>;
  if (c.has("infinite")) return execute_testp<T, Property::infinite>;
  if (c.has("number")) return execute_testp<T, Property::number>;
  if (c.has("notanumber")) return execute_testp<T, Property::notanumber>;
  if (c.has("normal")) return execute_testp<T, Property::normal>;
  return execute_testp<T, Property::subnormal>;
}

bool decode_testp(DecodeContext& c) {
  if (!c.only({"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) ||
      !c.operand_count(2, 2) || !is_float(c.type())) {
    return c.unknown();
  }
  c.out.op[0] = c.predicate_destination(c.operand(0));
  c.out.op[1] = c.source(c.operand(1), c.type());
  return c.out.op[0] != kNoRow && c.out.op[1] != kNoRow &&
         c.emit(c.type() == Type::f32 ? testp_of<float>(c) : testp_of<double>(c));
}

bool decode_copysign(DecodeContext& c) {
  if (!c.only({}) || !is_float(c.type())) return c.unknown();
  return c.emit(c.type() == Type::f32 ? lanewise<copy_sign<float>, float, float, float>
                                      : lanewise<copy_sign<double>, double, double, double>,
                c.type(), {c.type(), c.type()});
}

}  // namespace

bool decode_float_add(DecodeContext& c) {
  return decode_binary<kAdd, 0>(c);
}
bool decode_float_sub(DecodeContext& c) {
  return decode_binary<kSub, 1>(c);
}
bool decode_float_mul(DecodeContext& c) {
  return decode_binary<kMul, 2>(c);
}

bool decode_float_fma(DecodeContext& c) {
  if (!c.only({"rn", "rz", "rm", "rp", "ftz", "sat"})) return false;
  const Type type = c.type();
  const int rounding = rounding_of(c);
  const uint16_t flags = flags_of(c);
  Execute execute = nullptr;
  if (rounding != FE_TONEAREST) {
    c.out.immediate = rounding;
    c.out.variant = flags;
    execute = type == Type::f32 ? directed<float, 3> : directed<double, 3>;
  } else if (flags == 0) {
    execute = type == Type::f32 ? execute_fma<float> : execute_fma<double>;
  } else {
    execute = by_flags<Fused>(flags);
  }
  return c.emit(execute, type, {type, type, type});
}

// div.full and div.approx: here the correctly rounded quotient (documented bounds are 2 ulp).
bool decode_float_div(DecodeContext& c) {
  return c.only({"rn", "rz", "rm", "rp", "ftz", "full", "approx"}) && emit_binary<kDiv, 4>(c);
}

bool decode_float_min(DecodeContext& c) {
  return decode_extremum<smaller<float>, smaller<double>>(c);
}
bool decode_float_max(DecodeContext& c) {
  return decode_extremum<larger<float>, larger<double>>(c);
}

bool decode_float_abs(DecodeContext& c) {
  if (!c.only({"ftz"})) return false;
  if (c.type() == Type::f64)
    return c.emit(unary_of<static_cast<double (*)(double)>(magnitude), double>, Type::f64,
                  {Type::f64});
  return c.emit(c.has("ftz") ? unary_of<flushed_magnitude, float>
                             : unary_of<static_cast<float (*)(float)>(magnitude), float>,
                Type::f32, {Type::f32});
}

bool decode_float_neg(DecodeContext& c) {
  if (!c.only({"ftz"})) return false;
  if (c.type() == Type::f64)
    return c.emit(unary_of<static_cast<double (*)(double)>(negation), double>, Type::f64,
                  {Type::f64});
  return c.emit(c.has("ftz") ? unary_of<flushed_negation, float>
                             : unary_of<static_cast<float (*)(float)>(negation), float>,
                Type::f32, {Type::f32});
}

void add_float_arithmetic(InstructionSet& set) {
  set.add("copysign", decode_copysign, InstructionClass::float32);
  set.add("testp", decode_testp, InstructionClass::float32);
}

}  // namespace gemmtune::ptxsim
