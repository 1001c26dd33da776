#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

#include "parts/shared/epilogue.h"

namespace gemmtune {

// The parts of an epilogue by the names users type, separated by commas: "scale,bias,gelu". "none"
// for an epilogue that does nothing.
std::string to_string(const Epilogue& epilogue);

// Parses at most one scale of 8-bit operands ("scale": a factor of each, "scale_row": one of each
// row of A and of each column of B, "scale_1x128": one of those for each 128 of k,
// "scale_1x128_128x128": of each row of A and of 128 columns of B, "scale_128x128_1x128": of 128
// rows of A and of each column of B), at most one bias ("bias": a value per column of C,
// "bias_row": a value per row) and at most one activation ("relu", "gelu": by tanh, as cuBLASLt
// computes it, "gelu_erf", "silu"), in this order; or "none". The error lists the names, nearest
// first.
Expected<Epilogue> parse_epilogue(std::string_view text);

// Of the transposed product.
constexpr Epilogue transposed(Epilogue epilogue) {
  switch (epilogue.bias) {
    case kBiasPerColumn:
      epilogue.bias = kBiasPerRow;
      break;
    case kBiasPerRow:
      epilogue.bias = kBiasPerColumn;
      break;
    case kNoBias:
      break;
  }
  if (epilogue.scale == kScale1x128By128x128) {
    epilogue.scale = kScale128x128By1x128;
  } else if (epilogue.scale == kScale128x128By1x128) {
    epilogue.scale = kScale1x128By128x128;
  }
  return epilogue;
}

}  // namespace gemmtune
