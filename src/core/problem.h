#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/epilogue.h"
#include "core/error.h"
#include "core/layout.h"
#include "core/types.h"

#include "parts/shared/block_scales.h"

namespace gemmtune {

// Sizes of one matrix product.
struct Shape {
  int64_t m = 0;  // rows of op(A) and C
  int64_t n = 0;  // columns of op(B) and C
  int64_t k = 0;  // columns of op(A), rows of op(B)

  bool operator==(const Shape&) const = default;
};

// Largest size a dimension may have: kernels index tiles in 32 bits, and count up to the parts and
// stages of k that lie behind the last one.
inline constexpr int64_t kMaxDimension = 2147483647 - (1 << 20);

// Parses "MxNxK" (decimal, each 1..kMaxDimension). The error names the part that is wrong.
Expected<Shape> parse_shape(std::string_view text);
std::string to_string(const Shape& shape);

// What the base pointers of A, B and C are multiples of, in bytes, unless a problem says otherwise:
// what cudaMalloc, PyTorch, CuPy and JAX hand out. Problems whose pointers promise less are
// problems of their own.
inline constexpr int kUsualAlignBytes = 256;

// What a thread moves at once at the most: no kernel asks more of a pointer.
inline constexpr int kWidestAccessBytes = 16;

// C = activation(alpha * op(A) * op(B) + beta * C + bias), where 8-bit operands may be scaled, and
// how its operands lie in memory. Leading dimensions and batch strides are in elements.
struct Problem {
  Shape shape;
  DataType type = DataType::f32;         // of A and B
  DataType accumulator = DataType::f32;  // of the sums
  std::optional<DataType> result{};      // of C and the bias; none: usual_result() of A and B
  MathMode math = MathMode::ieee;
  Layout layout;
  int64_t lda = 0;
  int64_t ldb = 0;
  int64_t ldc = 0;
  int64_t batch = 1;
  int64_t stride_a = 0;
  int64_t stride_b = 0;
  int64_t stride_c = 0;
  int align_bytes = kUsualAlignBytes;  // what the base pointers of A, B and C are multiples of
  Epilogue epilogue = {};              // the bias is aligned to one element

  bool operator==(const Problem&) const = default;
};

// The type of C and of the bias.
DataType result_type(const Problem& problem);

// A densely packed problem whose C has the usual type: smallest leading dimensions and strides for
// `shape` and `layout`.
Problem make_problem(const Shape& shape, DataType type = DataType::f32, Layout layout = {});

// f32 by f32 arithmetic: no math mode is named.
bool is_plain_f32(const Problem& problem);

// The same problem in each of the other alignment classes that its type allows: the nearest first,
// and of two that are as near the wider. Whoever borrows a result takes it in this order.
std::vector<Problem> other_alignments(const Problem& problem);

// Fills in leading dimensions and strides that are 0 with the smallest legal ones.
void pack(Problem& problem);

// Checks sizes, leading dimensions, strides, alignment and the type/math combination.
Expected<void> validate(const Problem& problem);

// The same problem with a row-major C: a column-major C is the transposed product, so A and B (and
// m and n) change places; without a result type that is the usual one; and with a row of A or a
// column of B whose k is contiguous in the order that says so. Idempotent. Only such problems exist
// behind the command line and the C ABI.
Problem canonical(const Problem& problem);

// Where the scales of blocks of k lie, of A's rows and of B's columns.
BlockScales block_scales_of_a(const Problem& problem);
BlockScales block_scales_of_b(const Problem& problem);

// Which of A's and of B's scales the product of element (row, k) of A and (k, column) of B has; of
// a problem with scales.
struct ScaleIndex {
  int64_t a = 0;
  int64_t b = 0;
};
ScaleIndex scale_index(const Problem& problem, int64_t row, int64_t column, int64_t k);

// What the addresses of scales are multiples of, in bytes.
int scale_align_bytes(const Problem& problem);

// How many f32 scales A and B have; 0 where there are none.
struct ScaleElements {
  int64_t a = 0;
  int64_t b = 0;
};
ScaleElements scale_elements(const Problem& problem);

// 2 * m * n * k * batch.
double flops(const Problem& problem);

// Bytes of one operand for all batch entries, and the least a product must move (A, B, scales and
// bias read, C written).
int64_t bytes_a(const Problem& problem);
int64_t bytes_b(const Problem& problem);
int64_t bytes_c(const Problem& problem);
int64_t bytes_of_matrices(const Problem& problem);  // of A, B and C
int64_t bias_elements(const Problem& problem);      // 0 where there is no bias
double min_bytes_moved(const Problem& problem);

// A text that identifies the problem among all problems, e.g. "f32/f32/ieee/ttt/5120x5120x4096";
// fields that are not the packed default are appended ("/ld=...", "/batch=...", "/align=4",
// "/out=f32", "/epilogue=bias,gelu"). C of 8-bit operands is bf16 where no "/out=" names its type.
std::string key(const Problem& problem);

// The problem that a text of key() stands for, with strides of 0 where there is no batch. Error of
// kind usage for any other text.
Expected<Problem> parse_key(std::string_view text);

// The same for a key from before 256 bytes were the usual alignment: one that names none means 16.
Expected<Problem> parse_old_key(std::string_view text);

// The alignment class of addresses that are multiples of `align_bytes` (a power of two): the
// largest of 256, 16, 8, 4, 2 and 1 bytes that they are multiples of.
constexpr int alignment_class(int64_t align_bytes) {
  if (align_bytes >= kUsualAlignBytes) return kUsualAlignBytes;
  return align_bytes < kWidestAccessBytes ? static_cast<int>(align_bytes) : kWidestAccessBytes;
}

}  // namespace gemmtune
