#include "codegen/wgmma_instruction.h"

#include <fmt/format.h>

#include <algorithm>

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
    case DataType::f32:
      break;
  }
  return "tf32";
}

// The k of one instruction: 32 bytes.
int depth(DataType type) {
  return 32 / size_bytes(type);
}

// One word per register, `write(i)`, in lines.
template <class Write>
std::string registers(int count, std::string_view before, std::string_view after, Write write) {
  std::string text;
  for (int first = 0; first < count; first += kRegistersOfLine) {
    text += before;
    for (int i = first; i < std::min(first + kRegistersOfLine, count); ++i) {
      text += write(i);
      if (i + 1 < count) text += i + 1 < first + kRegistersOfLine ? ", " : ",";
    }
    text += after;
  }
  return text;
}

// How element (half, part) of the lane's pairs from column j on is found.
std::string_view getter(bool packed) {
  return packed ? "    return from_half<kF16>(static_cast<unsigned short>(at[j / 4 + half] >> 16 * "
                  "part));\n"
                : "    return at[j / 2 + 2 * half + part];\n";
}

}  // namespace

std::string wgmma_instruction_header(const WgmmaInstruction& in) {
  const bool packed = in.sum == DataType::f16;
  const int count = packed ? in.columns / 4 : in.columns / 2;
  const std::string_view word = packed ? "unsigned" : "float";
  const std::string list =
      registers(count, "      \"", " \"\n", [](int i) { return fmt::format("%{}", i); });
  const std::string outputs = registers(count, "        ", "\n", [&](int i) {
    return fmt::format("\"+{}\"(d[{}])", packed ? 'r' : 'f', i);
  });
  // Only operands of 16 bits may lie either way.
  const std::string majors =
      size_bytes(in.operand) == 2
          ? fmt::format(", {}, {}", in.transposed_rows ? 1 : 0, in.transposed_columns ? 1 : 0)
          : "";
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
{get}  }}
}};

// sums = rows * columns, or, if it adds, sums += rows * columns.
__device__ __forceinline__ void wgmma(WgmmaSums& sums, unsigned long long rows,
                                      unsigned long long columns, bool adds) {{
  {word}(&d)[{count}] = sums.at;
  asm volatile(
      "{{\n\t"
      ".reg .pred adds;\n\t"
      "setp.ne.b32 adds, %{adds}, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{sum}.{operand}.{operand} {{"
{list}      "}}, %{rows}, %{other}, adds, 1, 1{majors};\n\t"
      "}}"
      :
{outputs}      : "l"(rows), "l"(columns), "r"(static_cast<int>(adds)));
}}

}}  // namespace gemmtune
)",
      fmt::arg("include", packed ? "\n#include \"parts/ptx/half_access.cuh\"\n" : ""),
      fmt::arg("columns", in.columns), fmt::arg("depth", depth(in.operand)),
      fmt::arg("operand", operand_name(in.operand)), fmt::arg("sum", to_string(in.sum)),
      fmt::arg("word", word), fmt::arg("count", count), fmt::arg("get", getter(packed)),
      fmt::arg("list", list), fmt::arg("outputs", outputs), fmt::arg("rows", count),
      fmt::arg("other", count + 1), fmt::arg("adds", count + 2), fmt::arg("majors", majors));
}

}  // namespace gemmtune::codegen
