// wgmma.mma_async, between its decoding and its execution.
#pragma once

#include <cstdint>

#include "ptxsim/isa/wgmma_layout.h"
#include "ptxsim/isa/wgmma_math.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

// One form of the instruction, which Instruction::immediate holds.
struct WgmmaForm {
  uint16_t n = 0;
  WgmmaElement a = WgmmaElement::f16;
  WgmmaElement b = WgmmaElement::f16;
  bool half_result = false;  // i32 of s8, f32 of others
  bool a_in_registers = false;
  bool a_mn_major : 1 = false;
  bool b_mn_major : 1 = false;
  bool negates_a : 1 = false;
  bool negates_b : 1 = false;

  bool is_integer() const { return a == WgmmaElement::s8; }
  uint32_t k() const { return 32 / bytes_of(a); }
  uint32_t results() const { return half_result ? n / 4U : n / 2U; }  // registers
};
static_assert(sizeof(WgmmaForm) == sizeof(int64_t));
WgmmaForm form_of(const Instruction& in);

// The parts of the matrices in shared memory that a warp reads.
WgmmaPanel a_panel(const Warp& warp, const WgmmaForm& form, uint64_t descriptor);
WgmmaPanel b_panel(const WgmmaForm& form, uint64_t descriptor);

// Reads the matrices and the sums, and writes the sums.
void compute(Warp& warp, const PendingWgmma& wgmma);

}  // namespace gemmtune::ptxsim
