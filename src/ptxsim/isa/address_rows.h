// Operands of instructions that take several addresses: each is three entries of the instruction's
// list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxsim/decode/decode_context.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

inline constexpr size_t kAddressRows = 3;

// Appends [base + offset]. `space` is the instruction's: Space::generic where it names none, or
// where a variable's name says which.
bool append_address(DecodeContext& c, const ast::Operand& operand, Space space);

// The address in shared memory (as in shared::cluster), and the generic address. Both take an
// address of the other kind where the instruction names no space.
uint64_t shared_address(Warp& warp, const Row* rows, uint32_t lane);
uint64_t generic_address(Warp& warp, const Row* rows, uint32_t lane);

// Where a shared address points to: a block of the cluster and an offset in its shared memory.
struct SharedPlace {
  Block* block = nullptr;  // null: outside, which was reported
  uint32_t offset = 0;
};
// `bytes`, a power of two, that `in` updates for `lane`.
SharedPlace locate_shared_place(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                                uint32_t bytes);

}  // namespace gemmtune::ptxsim
