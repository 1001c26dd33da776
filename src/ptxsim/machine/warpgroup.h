// What a warp knows of its wgmma instructions. Source: PTX ISA, "Asynchronous Warpgroup Level
// Matrix Instructions".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gemmtune::ptxsim {

class Warp;
struct Instruction;

// One wgmma.mma_async that its warp has not waited for.
struct PendingWgmma {
  const Instruction* in = nullptr;
  uint64_t a = 0, b = 0;  // descriptors; a: unless its matrix is in registers
  bool accumulates = false;
  uint32_t group = 0;
  uint32_t read = 0;    // of the cluster's AsyncReads
  uint32_t serial = 0;  // of the warp's
};

struct WarpgroupState {
  // How a register is in use by a pending wgmma.
  enum class Use : uint8_t { none, input, result };
  struct Register {
    uint32_t serial = 0;          // of the last wgmma that uses it
    Use use = Use::none;          // until that was waited for
    uint32_t written_before = 0;  // the fence of this number
  };

  std::vector<PendingWgmma> pending;
  std::vector<Register> registers;  // by row / kRowAlignment
  uint32_t groups = 0;              // committed
  uint32_t fences = 0;
  uint32_t serial = 0;

  void restart(size_t rows) {
    pending.clear();
    registers.assign(rows, Register{});
    groups = fences = serial = 0;
  }
};

// Checks what an ordinary instruction does to registers of pending ones, and notes its writes.
void note_registers(Warp& warp, const Instruction& in);

}  // namespace gemmtune::ptxsim
