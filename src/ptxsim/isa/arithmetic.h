// add, sub, mul... exist for integers, floats and halves: each opcode is decoded by the family of
// its type.
#pragma once

#include "ptxsim/decode/decode_context.h"

namespace gemmtune::ptxsim {

bool decode_integer_add(DecodeContext& c);
bool decode_integer_sub(DecodeContext& c);
bool decode_integer_mul(DecodeContext& c);
bool decode_integer_mad(DecodeContext& c);
bool decode_integer_div(DecodeContext& c);
bool decode_integer_min(DecodeContext& c);
bool decode_integer_max(DecodeContext& c);
bool decode_integer_abs(DecodeContext& c);
bool decode_integer_neg(DecodeContext& c);

// For f32 and f64.
bool decode_float_add(DecodeContext& c);
bool decode_float_sub(DecodeContext& c);
bool decode_float_mul(DecodeContext& c);
bool decode_float_fma(DecodeContext& c);
bool decode_float_div(DecodeContext& c);
bool decode_float_min(DecodeContext& c);
bool decode_float_max(DecodeContext& c);
bool decode_float_abs(DecodeContext& c);
bool decode_float_neg(DecodeContext& c);

// For f16, bf16 and their pairs.
bool decode_half_add(DecodeContext& c);
bool decode_half_sub(DecodeContext& c);
bool decode_half_mul(DecodeContext& c);
bool decode_half_fma(DecodeContext& c);
bool decode_half_min(DecodeContext& c);
bool decode_half_max(DecodeContext& c);
bool decode_half_abs(DecodeContext& c);
bool decode_half_neg(DecodeContext& c);

bool is_half(Type type);
bool is_float(Type type);

}  // namespace gemmtune::ptxsim
