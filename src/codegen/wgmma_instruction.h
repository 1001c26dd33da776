#pragma once

#include <string>
#include <string_view>

#include "codegen/kernel_spec.h"

namespace gemmtune::codegen {

// The name under which wgmma kernels include their one product.
inline constexpr std::string_view kWgmmaInstructionHeader = "parts/ptx/wgmma_instruction.cuh";

// Columns of a tile that one instruction after the other multiplies. The second part, of tiles
// wider than one instruction's 256 columns, begins at a multiple of 64.
struct WgmmaParts {
  int first = 0;
  int second = 0;  // 0: there is none

  int widest() const { return first > second ? first : second; }
};
WgmmaParts wgmma_parts(int columns);

// What a product is made of.
struct WgmmaInstruction {
  int columns = 8;  // a multiple of 8
  int tile_k = 64;  // of the tile in shared memory
  DataType operand = DataType::bf16;
  DataType sum = DataType::f32;     // f16 of f16 products only
  bool transposed_rows = false;     // the operand of the 64 rows lies along them, not along k
  bool transposed_columns = false;  // the other one
};

// The header that defines the sums of a thread, WgmmaSums, and wgmma(sums, rows, columns, adds):
// one product of 64 rows, written out, since its registers cannot be named by a template. Tiles of
// more than 256 columns take two instructions.
std::string wgmma_instruction_header(const WgmmaInstruction& instruction);

}  // namespace gemmtune::codegen
