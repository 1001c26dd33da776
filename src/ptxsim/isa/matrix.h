// What the warp-level matrix instructions share.
#pragma once

#include <cstdint>

#include "ptxsim/isa/mma_math.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

// All 32 lanes must execute a matrix instruction; reports it when they do not.
bool whole_warp(Warp& warp, const Instruction& in, uint32_t mask);

// The element types of fragments.
enum class Element : uint8_t { f16, bf16, tf32, f32, f64, s8, u8, s32 };

// How many elements one register holds.
uint32_t elements_per_register(Element element);

// Element `index` of a fragment in `lane`.
struct Place {
  int row = 0;
  int column = 0;
};
using Placement = Place (*)(uint32_t lane, uint32_t index);

// One operand's registers (32 lanes each) into a matrix and back. Tall enough for every shape.
struct Matrix {
  double at[kMaxMmaM][kMaxMmaN];
};
void gather_fragment(Warp& warp, const Row* rows, uint32_t registers, Element element,
                     Placement place, Matrix& out);
// Rounds to nearest even for f16 and f32; wraps, or saturates, for s32.
void scatter_fragment(Warp& warp, const Row* rows, uint32_t registers, Element element,
                      bool saturates, Placement place, const Matrix& matrix);

}  // namespace gemmtune::ptxsim
