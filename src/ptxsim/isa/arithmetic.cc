#include "ptxsim/isa/arithmetic.h"

#include "ptxsim/decode/instruction_set.h"

namespace gemmtune::ptxsim {

bool is_half(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
}
bool is_float(Type type) {
  return type == Type::f32 || type == Type::f64;
}

namespace {

template <DecodeFunction kInteger, DecodeFunction kFloat, DecodeFunction kHalf>
bool by_type(DecodeContext& c) {
  const Type type = c.type();
  if (is_half(type)) {
    c.out.category = InstructionClass::float16;
    return kHalf(c);
  }
  if (is_float(type)) {
    c.out.category = type == Type::f32 ? InstructionClass::float32 : InstructionClass::float64;
    return kFloat(c);
  }
  return kInteger(c);
}

bool no_integer(DecodeContext& c) {
  return c.unknown("for this type");
}

}  // namespace

void add_arithmetic(InstructionSet& set) {
  constexpr InstructionClass kClass = InstructionClass::integer;
  set.add("add", by_type<decode_integer_add, decode_float_add, decode_half_add>, kClass);
  set.add("sub", by_type<decode_integer_sub, decode_float_sub, decode_half_sub>, kClass);
  set.add("mul", by_type<decode_integer_mul, decode_float_mul, decode_half_mul>, kClass);
  set.add("mad", by_type<decode_integer_mad, decode_float_fma, decode_half_fma>, kClass);
  set.add("fma", by_type<no_integer, decode_float_fma, decode_half_fma>, kClass);
  set.add("div", by_type<decode_integer_div, decode_float_div, no_integer>, kClass);
  set.add("min", by_type<decode_integer_min, decode_float_min, decode_half_min>, kClass);
  set.add("max", by_type<decode_integer_max, decode_float_max, decode_half_max>, kClass);
  set.add("abs", by_type<decode_integer_abs, decode_float_abs, decode_half_abs>, kClass);
  set.add("neg", by_type<decode_integer_neg, decode_float_neg, decode_half_neg>, kClass);
}

}  // namespace gemmtune::ptxsim
