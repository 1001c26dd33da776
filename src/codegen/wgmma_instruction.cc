#include "codegen/wgmma_instruction.h"

#include <fmt/format.h>

#include <algorithm>

#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr int kRegistersOfLine = 8;

// How PTX calls the type of an operand.
std::string_view operand_name(DataType type) {
  switch (type) {
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
    case DataType::e4m3:
      return "e4m3";
    case DataType::e5m2:
      return "e5m2";
    case DataType::i8:
      return "s8";
    case DataType::f32:
    case DataType::i32:
      break;
  }
  return "tf32";
}

// The k of one instruction: 32 bytes.
int depth(DataType type) {
  return 32 / size_bytes(type);
}

// One word per register from `from` up to `to`, `write(i)`, in lines.
template <class Write>
std::string registers(int from, int to, std::string_view before, std::string_view after,
                      Write write) {
  std::string text;
  for (int first = from; first < to; first += kRegistersOfLine) {
    text += before;
    for (int i = first; i < std::min(first + kRegistersOfLine, to); ++i) {
      text += write(i);
      if (i + 1 < to) text += i + 1 < first + kRegistersOfLine ? ", " : ",";
    }
    text += after;
  }
  return text;
}

// What a kernel has to know of its sums' type.
struct SumRegister {
  std::string_view type;        // in PTX
  std::string_view word;        // in C++
  char constraint;              // in asm
  std::string_view factors;     // of A and B, which the instruction is given
  std::string_view conversion;  // header for `getter`
  std::string_view getter;      // element (half, part) of the lane's pairs from column j on
};

SumRegister register_of(DataType sum) {
  switch (sum) {
    case DataType::f16:
      return {"f16",
              "unsigned",
              'r',
              ", 1, 1",
              "\n#include \"parts/ptx/half_access.cuh\"\n",
              "from_half<kF16>(static_cast<unsigned short>(at[j / 4 + half] >> 16 * part))"};
    case DataType::i32:
      return {"s32",
              "int",
              'r',
              "",
              "\n#include \"parts/ptx/integer_bits.cuh\"\n",
              "bits_of_sum(at[j / 2 + 2 * half + part])"};
    default:
      return {"f32", "float", 'f', ", 1, 1", "", "at[j / 2 + 2 * half + part]"};
  }
}

// Columns whose sums a thread keeps in one register.
int columns_of_register(const WgmmaInstruction& in) {
  return in.sum == DataType::f16 ? 4 : 2;
}

// The instruction for `columns` columns from column `from` on, whose descriptor is `descriptor`.
std::string instruction(const WgmmaInstruction& in, int from, int columns,
                        std::string_view descriptor) {
  const SumRegister sum = register_of(in.sum);
  const int first = from / columns_of_register(in);
  const int count = columns / columns_of_register(in);
  const std::string list =
      registers(0, count, "      \"", " \"\n", [](int i) { return fmt::format("%{}", i); });
  const std::string outputs = registers(first, first + count, "        ", "\n", [&](int i) {
    return fmt::format("\"+{}\"(d[{}])", sum.constraint, i);
  });
  // Only operands of 16 bits may lie either way.
  const std::string majors =
      size_bytes(in.operand) == 2
          ? fmt::format(", {}, {}", in.transposed_rows ? 1 : 0, in.transposed_columns ? 1 : 0)
          : "";
  return fmt::format(
      R"(  asm volatile(
      "{{\n\t"
      ".reg .pred adds;\n\t"
      "setp.ne.b32 adds, %{adds}, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{sum}.{operand}.{operand} {{"
{list}      "}}, %{rows}, %{other}, adds{factors}{majors};\n\t"
      "}}"
      :
{outputs}      : "l"(rows), "l"({descriptor}), "r"(static_cast<int>(adds)));
)",
      fmt::arg("columns", columns), fmt::arg("depth", depth(in.operand)),
      fmt::arg("operand", operand_name(in.operand)), fmt::arg("sum", sum.type),
      fmt::arg("list", list), fmt::arg("outputs", outputs), fmt::arg("rows", count),
      fmt::arg("other", count + 1), fmt::arg("adds", count + 2), fmt::arg("factors", sum.factors),
      fmt::arg("majors", majors), fmt::arg("descriptor", descriptor));
}

// Bytes from the columns' operand's tile in shared memory to its column `column`, a multiple of a
// line's elements.
int bytes_to_column(const WgmmaInstruction& in, int column) {
  if (!in.transposed_columns) return column * kTmaLineBytes;
  const TmaTile tile(in.columns, in.tile_k, false, size_bytes(in.operand));
  return column / (tile.line_bytes / size_bytes(in.operand)) * tile.box_bytes();
}

// One for each part of the columns.
std::string instructions(const WgmmaInstruction& in) {
  const WgmmaParts parts = wgmma_parts(in.columns);
  std::string text = instruction(in, 0, parts.first, "columns");
  if (parts.second > 0) {
    constexpr int kDescriptorUnit = 16;  // bytes
    const int units = bytes_to_column(in, parts.first) / kDescriptorUnit;
    text += instruction(in, parts.first, parts.second, fmt::format("columns + {}", units));
  }
  return text;
}

}  // namespace

WgmmaParts wgmma_parts(int columns) {
  if (columns <= kMostWgmmaColumns) return {columns, 0};
  constexpr int kLine = 64;  // 16-bit elements, which alone may lie along the columns
  const int first = columns / 2 / kLine * kLine;
  return {first, columns - first};
}

std::string wgmma_instruction_header(const WgmmaInstruction& in) {
  const SumRegister sum = register_of(in.sum);
  return fmt::format(
      R"(#pragma once
{include}
// The one product of this kernel: {columns} columns of 64 rows, {depth} deep, of {operand}, summed in
// {sum}. A lane of warp w holds pairs of neighbouring columns, 2 * (lane % 4) of each 8, of
// rows 16 * w + lane / 4 and 8 below it.

namespace gemmtune {{

struct WgmmaSums {{
  {word} at[{count}];

  // Of the 8 columns from j on: the upper or lower row, the first or second of the lane's pair.
  __device__ __forceinline__ float get(int j, int half, int part) const {{
    return {get};
  }}
}};

// sums = rows * columns, or, if it adds, sums += rows * columns.
__device__ __forceinline__ void wgmma(WgmmaSums& sums, unsigned long long rows,
                                      unsigned long long columns, bool adds) {{
  {word}(&d)[{count}] = sums.at;
{instructions}}}

}}  // namespace gemmtune
)",
      fmt::arg("include", sum.conversion), fmt::arg("columns", in.columns),
      fmt::arg("depth", depth(in.operand)), fmt::arg("operand", operand_name(in.operand)),
      fmt::arg("sum", sum.type), fmt::arg("word", sum.word),
      fmt::arg("count", in.columns / columns_of_register(in)), fmt::arg("get", sum.getter),
      fmt::arg("instructions", instructions(in)));
}

}  // namespace gemmtune::codegen
