#pragma once

#include <string>
#include <string_view>

#include "codegen/kernel_spec.h"

namespace gemmtune::codegen {

// The name under which wgmma kernels include their one product.
inline constexpr std::string_view kWgmmaInstructionHeader = "parts/ptx/wgmma_instruction.cuh";

// What a wgmma instruction is made of.
struct WgmmaInstruction {
  int columns = 8;  // a multiple of 8, up to 256
  DataType operand = DataType::bf16;
  DataType sum = DataType::f32;     // f16 of f16 products only
  bool transposed_rows = false;     // the operand of the 64 rows lies along them, not along k
  bool transposed_columns = false;  // the other one
};

// The header that defines the sums of a thread, WgmmaSums, and wgmma(sums, rows, columns, adds):
// one product of 64 rows, written out, since its registers cannot be named by a template.
std::string wgmma_instruction_header(const WgmmaInstruction& instruction);

}  // namespace gemmtune::codegen
