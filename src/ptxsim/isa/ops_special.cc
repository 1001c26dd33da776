// Square roots, reciprocals and transcendental approximations. Source: PTX ISA, "Floating-Point
// Instructions".
//
// .approx results are not specified bit by bit: the hardware is within the documented bound (1 to 3
// ulp; sin, cos, tanh: an absolute error near 2^-21), the simulator gives the value computed in
// double precision and rounded once: f32 and bf16 to nearest, f16 toward zero. All flush subnormals
// when .ftz is given.
#include <cmath>
#include <numbers>

#include "ptxsim/decode/half.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/lanes.h"

namespace gemmtune::ptxsim {

namespace {

float flush(float x) {
  const uint32_t bits = bits_of(x);
  return (bits & 0x7F800000U) == 0 ? float_of(bits & 0x80000000U) : x;
}

template <double (*F)(double), bool kFtz>
float approximate(float x) {
  if (kFtz) x = flush(x);
  auto r = static_cast<float>(F(static_cast<double>(x)));
  if (kFtz) r = flush(r);
  return r != r ? float_of(kNan32) : r;
}

double reciprocal(double x) {
  return 1.0 / x;
}
double square_root(double x) {
  return std::sqrt(x);
}
double reciprocal_root(double x) {
  return 1.0 / std::sqrt(x);
}
double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double log_two(double x) {
  return std::log2(x);
}
double exp_two(double x) {
  return std::exp2(x);
}
double hyperbolic_tangent(double x) {
  return std::tanh(x);
}

template <double (*F)(double)>
double in_double(double x) {
  return F(x);
}

// sqrt.rn.f32: the double result rounded again is right, since 53 >= 2 * 24 + 2.
template <double (*F)(double)>
bool decode_function(DecodeContext& c) {
  if (!c.only({"rn", "approx", "ftz"})) return false;
  if (c.type() == Type::f64) return c.emit(unary_of<in_double<F>, double>, Type::f64, {Type::f64});
  if (c.type() != Type::f32) return c.unknown("for this type");
  return c.emit(
      c.has("ftz") ? unary_of<approximate<F, true>, float> : unary_of<approximate<F, false>, float>,
      Type::f32, {Type::f32});
}

// An H200 cuts the low bits of its f16 results off; tanh of little values is the value itself. (It
// is at 2^-8 and is cut off at 2^-7; between them nothing was measured.)
template <double (*F)(double)>
uint16_t half_function(uint16_t x) {
  constexpr uint16_t kLittle = 0x2000;  // 2^-7
  if (F == hyperbolic_tangent && (x & 0x7FFF) < kLittle) return x;
  const float value = to_odd_float(F(half_to_float(x)));
  const uint16_t nearest = float_to_half(value);
  const bool overflows = (nearest & 0x7FFF) >= 0x7C00;
  return overflows ? nearest : float_to_half(value, Rounding::toward_zero);
}
template <double (*F)(double)>
uint16_t bfloat_function(uint16_t x) {
  return float_to_bfloat(to_odd_float(F(bfloat_to_float(x))));
}
template <auto F>
uint32_t pairwise(uint32_t x) {
  return F(static_cast<uint16_t>(x)) | uint32_t{F(static_cast<uint16_t>(x >> 16))} << 16;
}

// ex2 and tanh exist for the 16-bit types too.
template <double (*F)(double)>
bool decode_half_function(DecodeContext& c) {
  if (!c.only({"approx", "ftz"})) return false;
  switch (c.type()) {
    case Type::f16:
      return c.emit(unary_of<half_function<F>, uint16_t>, Type::f16, {Type::f16});
    case Type::bf16:
      return c.emit(unary_of<bfloat_function<F>, uint16_t>, Type::bf16, {Type::bf16});
    case Type::f16x2:
      return c.emit(unary_of<pairwise<half_function<F>>, uint32_t>, Type::b32, {Type::b32});
    case Type::bf16x2:
      return c.emit(unary_of<pairwise<bfloat_function<F>>, uint32_t>, Type::b32, {Type::b32});
    default:
      return decode_function<F>(c);
  }
}

}  // namespace

void add_special_functions(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::special;
  set.add("rcp", decode_function<reciprocal>, kClass);
  set.add("sqrt", decode_function<square_root>, kClass);
  set.add("rsqrt", decode_function<reciprocal_root>, kClass);
  set.add("sin", decode_function<sine>, kClass);
  set.add("cos", decode_function<cosine>, kClass);
  set.add("lg2", decode_function<log_two>, kClass);
  set.add("ex2", decode_half_function<exp_two>, kClass);
  set.add("tanh", decode_half_function<hyperbolic_tangent>, kClass);
}

}  // namespace gemmtune::ptxsim
