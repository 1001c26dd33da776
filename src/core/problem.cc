#include "core/problem.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/names.h"

namespace gemmtune {
namespace {

constexpr int kOldUsualAlignBytes = 16;

constexpr double kMaxOperandElements =
    1e15;  // far past any memory, and its bytes still fit 64 bits

// Parses one dimension of "MxNxK"; `name` is m, n or k.
Expected<int64_t> parse_dimension(std::string_view whole, std::string_view part, char name) {
  const auto where = [&] {
    return "shape " + in_quotes(whole) + ": " + name + " is " + in_quotes(part);
  };
  if (part.empty()) return usage_error(where() + ", a whole number is needed");
  int64_t value = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (code == std::errc::result_out_of_range) {
    return usage_error(where() + ", the largest is " + std::to_string(kMaxDimension));
  }
  if (code != std::errc() || end != part.data() + part.size()) {
    return usage_error(where() + ", a whole number in plain digits is needed");
  }
  if (value < 1) return usage_error(where() + ", it must be at least 1");
  if (value > kMaxDimension) {
    return usage_error(where() + ", the largest is " + std::to_string(kMaxDimension));
  }
  return value;
}

// A vector of contiguous k is of either order: gives it `usual`.
void along_k(int64_t k, Order usual, Order& order, int64_t& ld) {
  if (order == usual || ld != 1) return;
  order = usual;
  ld = k;
}

int64_t contiguous(Order order, int64_t rows, int64_t columns) {
  return order == Order::row_major ? columns : rows;
}
int64_t strided(Order order, int64_t rows, int64_t columns) {
  return order == Order::row_major ? rows : columns;
}

// Elements from the first to one past the last of a matrix with leading dimension `ld`.
int64_t span_elements(Order order, int64_t rows, int64_t columns, int64_t ld) {
  return (strided(order, rows, columns) - 1) * ld + contiguous(order, rows, columns);
}

struct Operand {
  const char* name;
  Order order;
  int64_t rows;
  int64_t columns;
  int64_t ld;
  int64_t stride;
};

Operand operand_a(const Problem& p) {
  return {"a", p.layout.a, p.shape.m, p.shape.k, p.lda, p.stride_a};
}
Operand operand_b(const Problem& p) {
  return {"b", p.layout.b, p.shape.k, p.shape.n, p.ldb, p.stride_b};
}
Operand operand_c(const Problem& p) {
  return {"c", p.layout.c, p.shape.m, p.shape.n, p.ldc, p.stride_c};
}

int64_t operand_bytes(const Operand& o, int64_t batch, DataType type) {
  return ((batch - 1) * o.stride + span_elements(o.order, o.rows, o.columns, o.ld)) *
         size_bytes(type);
}

// Every digit of a whole number, which may be above what 64 bits hold.
std::string whole_number(double value) {
  std::array<char, 400> text{};
  const auto [end, code] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 0);
  return {text.data(), end};
}

int largest_element_bytes(const Problem& p) {
  return std::max(size_bytes(p.type), size_bytes(result_type(p)));
}

Expected<void> check_operand(const Operand& o, int64_t batch) {
  const int64_t least = contiguous(o.order, o.rows, o.columns);
  if (o.ld < least) {
    return usage_error("ld" + std::string(o.name) + " is " + std::to_string(o.ld) + ", at least " +
                       std::to_string(least) + " is needed for this layout and shape");
  }
  const double elements =
      static_cast<double>(strided(o.order, o.rows, o.columns)) * static_cast<double>(o.ld) +
      static_cast<double>(batch - 1) * static_cast<double>(o.stride);
  if (elements > kMaxOperandElements) {
    return usage_error("operand " + std::string(o.name) + " spans " + whole_number(elements) +
                       " elements, more than any device holds");
  }
  const int64_t span = span_elements(o.order, o.rows, o.columns, o.ld);
  const bool is_output = o.name[0] == 'c';
  if (batch > 1 && o.stride < (is_output ? span : 0)) {
    return usage_error("batch stride of " + std::string(o.name) + " is " +
                       std::to_string(o.stride) + ", at least " +
                       std::to_string(is_output ? span : 0) + " is needed");
  }
  return {};
}

// The math mode and the type of the sums.
Expected<void> check_math(const Problem& p) {
  const std::string type(to_string(p.type));
  const std::string math(to_string(p.math));
  if (p.math == MathMode::fast_accum && !is_fp8(p.type))
    return usage_error("math mode " + math + " is for e4m3 and e5m2 operands only");
  if (p.math != MathMode::ieee && p.math != MathMode::fast_accum && p.type != DataType::f32)
    return usage_error("math mode " + math + " is for f32 operands only");
  if (p.type == DataType::f32 && p.accumulator != DataType::f32)
    return usage_error("f32 operands need an f32 accumulator");
  const DataType usual = usual_accumulator(p.type);
  const bool half_sums = p.accumulator == DataType::f16 && p.type == DataType::f16;
  if (p.accumulator != usual && !half_sums) {
    return usage_error("accumulator " + std::string(to_string(p.accumulator)) +
                       " does not go with type " + type + "; use " + std::string(to_string(usual)));
  }
  return {};
}

// Of A and B.
Expected<void> check_type(const Problem& p) {
  if (p.type != DataType::i32) return {};
  return usage_error("type i32 is of sums and results only; operands are i8");
}

// The type of C.
Expected<void> check_result(const Problem& p) {
  const DataType result = result_type(p);
  const DataType usual = usual_result(p.type);
  if (result == usual) return {};
  if (p.type != DataType::i8 && result == DataType::f32) return {};
  if (is_fp8(p.type) && result == DataType::f16) return {};
  const bool has_others = p.type != DataType::f32 && p.type != DataType::i8;
  const std::string others = is_fp8(p.type) ? "bf16, f16 or f32"
                             : has_others   ? std::string(to_string(usual)) + " or f32"
                                            : std::string(to_string(usual));
  return usage_error("results of type " + std::string(to_string(result)) + " do not go with type " +
                     std::string(to_string(p.type)) + "; use " + others);
}

Expected<void> check_epilogue(const Problem& p) {
  if (p.type == DataType::i8 && p.epilogue != Epilogue{}) {
    return usage_error("epilogue " + to_string(p.epilogue) +
                       " does not go with type i8, whose results are sums");
  }
  Epilogue scale;
  scale.scale = p.epilogue.scale;
  if (has_block_scales(p.epilogue.scale) && p.math == MathMode::fast_accum) {
    return usage_error("epilogue " + to_string(scale) +
                       " scales the sums of every 128 of k, which fast_accum does not have; use "
                       "ieee");
  }
  if (p.epilogue.scale == kNoScale || is_fp8(p.type)) return {};
  return usage_error("epilogue " + to_string(scale) +
                     " is for e4m3 and e5m2 operands only; of others alpha is one");
}

// Tensor cores read 8-bit operands along k only.
Expected<void> check_layout(const Problem& p) {
  const bool turns_a = p.layout.a != Order::row_major;
  const bool turns_b = p.layout.b != Order::column_major;
  if (!is_8_bit(p.type) || (!turns_a && !turns_b)) return {};
  const std::string which = turns_a && turns_b ? "both" : turns_a ? "A" : "B";
  return usage_error("layout " + to_string(p.layout) + " does not go with type " +
                     std::string(to_string(p.type)) +
                     ", of which k must be contiguous in both operands: store " + which +
                     " transposed and use layout tnt or tnn");
}

}  // namespace

std::string to_string(const Shape& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
}

Expected<Shape> parse_shape(std::string_view text) {
  int64_t values[3];
  std::string_view rest = text;
  for (int i = 0; i < 3; ++i) {
    const size_t x = rest.find('x');
    if ((x == std::string_view::npos) != (i == 2)) {
      return usage_error("shape " + in_quotes(text) +
                         " needs three sizes, MxNxK, e.g. 5120x5120x4096");
    }
    auto value = parse_dimension(text, rest.substr(0, x), "mnk"[i]);
    if (!value) return tl::unexpected(value.error());
    values[i] = *value;
    if (i < 2) rest.remove_prefix(x + 1);
  }
  return Shape{values[0], values[1], values[2]};
}

void pack(Problem& p) {
  const Shape& s = p.shape;
  if (p.lda == 0) p.lda = contiguous(p.layout.a, s.m, s.k);
  if (p.ldb == 0) p.ldb = contiguous(p.layout.b, s.k, s.n);
  if (p.ldc == 0) p.ldc = contiguous(p.layout.c, s.m, s.n);
  if (p.batch == 1) {
    p.stride_a = p.stride_b = p.stride_c = 0;
    return;
  }
  if (p.stride_a == 0) p.stride_a = p.lda * strided(p.layout.a, s.m, s.k);
  if (p.stride_b == 0) p.stride_b = p.ldb * strided(p.layout.b, s.k, s.n);
  if (p.stride_c == 0) p.stride_c = p.ldc * strided(p.layout.c, s.m, s.n);
}

Problem make_problem(const Shape& shape, DataType type, Layout layout) {
  Problem problem;
  problem.shape = shape;
  problem.type = type;
  problem.accumulator = usual_accumulator(type);
  problem.layout = layout;
  pack(problem);
  return problem;
}

bool is_plain_f32(const Problem& problem) {
  return problem.type == DataType::f32 && problem.math == MathMode::ieee;
}

std::vector<Problem> other_alignments(const Problem& problem) {
  const auto distance = [&](const Problem& other) {
    return std::abs(std::log2(other.align_bytes) - std::log2(problem.align_bytes));
  };
  std::vector<Problem> others;
  for (const int align_bytes : {kUsualAlignBytes, kWidestAccessBytes, 8, 4, 2}) {
    if (align_bytes == problem.align_bytes || align_bytes < largest_element_bytes(problem))
      continue;
    others.push_back(problem);
    others.back().align_bytes = align_bytes;
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](const Problem& a, const Problem& b) { return distance(a) < distance(b); });
  return others;
}

Expected<void> validate(const Problem& p) {
  const std::pair<const char*, int64_t> sizes[] = {
      {"m", p.shape.m}, {"n", p.shape.n}, {"k", p.shape.k}, {"batch", p.batch}};
  for (const auto& [name, size] : sizes) {
    if (size < 1 || size > kMaxDimension) {
      return usage_error(std::string(name) + " is " + std::to_string(size) + ", it must be in 1.." +
                         std::to_string(kMaxDimension));
    }
  }
  for (const Operand& operand : {operand_a(p), operand_b(p), operand_c(p)}) {
    if (auto checked = check_operand(operand, p.batch); !checked) return checked;
  }
  const int element = largest_element_bytes(p);
  if (p.align_bytes < element || (p.align_bytes & (p.align_bytes - 1)) != 0) {
    return usage_error("alignment is " + std::to_string(p.align_bytes) +
                       " bytes, a power of two of at least the element size (" +
                       std::to_string(element) + ") is needed");
  }
  if (auto checked = check_type(p); !checked) return checked;
  if (auto checked = check_math(p); !checked) return checked;
  if (auto checked = check_layout(p); !checked) return checked;
  if (auto checked = check_epilogue(p); !checked) return checked;
  return check_result(p);
}

DataType result_type(const Problem& p) {
  return p.result.value_or(usual_result(p.type));
}

Problem canonical(const Problem& p) {
  Problem t = p;
  if (t.result == usual_result(t.type)) t.result.reset();
  if (p.layout.c == Order::column_major) {
    std::swap(t.shape.m, t.shape.n);
    t.layout = {flipped(p.layout.b), flipped(p.layout.a), Order::row_major};
    std::swap(t.lda, t.ldb);
    std::swap(t.stride_a, t.stride_b);
    t.epilogue = transposed(p.epilogue);
  }
  if (t.shape.m == 1) along_k(t.shape.k, Order::row_major, t.layout.a, t.lda);
  if (t.shape.n == 1) along_k(t.shape.k, Order::column_major, t.layout.b, t.ldb);
  return t;
}

double flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.shape.m) * static_cast<double>(p.shape.n) *
         static_cast<double>(p.shape.k) * static_cast<double>(p.batch);
}

int64_t bytes_a(const Problem& p) {
  return operand_bytes(operand_a(p), p.batch, p.type);
}
int64_t bytes_b(const Problem& p) {
  return operand_bytes(operand_b(p), p.batch, p.type);
}
int64_t bytes_c(const Problem& p) {
  return operand_bytes(operand_c(p), p.batch, result_type(p));
}

int64_t bytes_of_matrices(const Problem& p) {
  return bytes_a(p) + bytes_b(p) + bytes_c(p);
}

int64_t bias_elements(const Problem& p) {
  switch (p.epilogue.bias) {
    case kBiasPerColumn:
      return p.shape.n;
    case kBiasPerRow:
      return p.shape.m;
    case kNoBias:
      break;
  }
  return 0;
}

BlockScales block_scales_of_a(const Problem& p) {
  return {scales_squares_of_a(p.epilogue.scale), p.shape.m, p.shape.k};
}
BlockScales block_scales_of_b(const Problem& p) {
  return {scales_squares_of_b(p.epilogue.scale), p.shape.n, p.shape.k};
}

ScaleIndex scale_index(const Problem& p, int64_t row, int64_t column, int64_t k) {
  switch (p.epilogue.scale) {
    case kScalePerRow:
      return {row, column};
    case kScale1x128:
    case kScale1x128By128x128:
    case kScale128x128By1x128:
      return {block_scales_of_a(p).index(row, k), block_scales_of_b(p).index(column, k)};
    case kScalePerTensor:
    case kNoScale:
      break;
  }
  return {};
}

int scale_align_bytes(const Problem& p) {
  return has_block_scales(p.epilogue.scale) ? kWidestAccessBytes : size_bytes(DataType::f32);
}

ScaleElements scale_elements(const Problem& p) {
  switch (p.epilogue.scale) {
    case kScalePerTensor:
      return {1, 1};
    case kScalePerRow:
      return {p.shape.m, p.shape.n};
    case kScale1x128:
    case kScale1x128By128x128:
    case kScale128x128By1x128:
      return {block_scales_of_a(p).elements(), block_scales_of_b(p).elements()};
    case kNoScale:
      break;
  }
  return {};
}

double min_bytes_moved(const Problem& p) {
  const auto m = static_cast<double>(p.shape.m);
  const auto n = static_cast<double>(p.shape.n);
  const auto k = static_cast<double>(p.shape.k);
  const double products = (m * k + k * n) * size_bytes(p.type) + m * n * size_bytes(result_type(p));
  const ScaleElements scales = scale_elements(p);
  return products * static_cast<double>(p.batch) +
         static_cast<double>(bias_elements(p)) * size_bytes(result_type(p)) +
         static_cast<double>(scales.a + scales.b) * size_bytes(DataType::f32);
}

std::string key(const Problem& p) {
  std::string text;
  text.append(to_string(p.type)).append("/").append(to_string(p.accumulator)).append("/");
  text.append(to_string(p.math))
      .append("/")
      .append(to_string(p.layout))
      .append("/")
      .append(to_string(p.shape));
  Problem packed = p;
  packed.lda = packed.ldb = packed.ldc = packed.stride_a = packed.stride_b = packed.stride_c = 0;
  pack(packed);
  if (p.lda != packed.lda || p.ldb != packed.ldb || p.ldc != packed.ldc) {
    text +=
        "/ld=" + std::to_string(p.lda) + "," + std::to_string(p.ldb) + "," + std::to_string(p.ldc);
  }
  if (p.batch != 1) {
    text += "/batch=" + std::to_string(p.batch);
    if (p.stride_a != packed.stride_a || p.stride_b != packed.stride_b ||
        p.stride_c != packed.stride_c) {
      text += "/stride=" + std::to_string(p.stride_a) + "," + std::to_string(p.stride_b) + "," +
              std::to_string(p.stride_c);
    }
  }
  if (p.align_bytes != kUsualAlignBytes) text += "/align=" + std::to_string(p.align_bytes);
  if (result_type(p) != usual_result(p.type)) text.append("/out=").append(to_string(*p.result));
  if (p.epilogue != Epilogue{}) text.append("/epilogue=").append(to_string(p.epilogue));
  return text;
}

namespace {

// Takes the next part of a key, up to '/', off `rest`; empty where there is none.
std::string_view take_part(std::string_view& rest) {
  const size_t slash = rest.find('/');
  const std::string_view part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  return part;
}

// Reads "<name>=1,2,3" if that is what `rest` begins with, and takes it off; false for a part of
// that name that holds anything else.
template <size_t kCount>
bool take_numbers(std::string_view& rest, std::string_view name,
                  const std::array<int64_t*, kCount>& to) {
  if (!rest.starts_with(name)) return true;
  std::string_view part = take_part(rest).substr(name.size());
  for (size_t i = 0; i < kCount; ++i) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), *to[i]);
    if (code != std::errc()) return false;
    part.remove_prefix(static_cast<size_t>(end - part.data()));
    if (i + 1 == kCount) return part.empty();
    if (!part.starts_with(',')) return false;
    part.remove_prefix(1);
  }
  return false;
}

// The same for "<name>=" and a text that `parse` reads.
template <class Value, class To>
bool take_name(std::string_view& rest, std::string_view name,
               Expected<Value> (*parse)(std::string_view), To& to) {
  if (!rest.starts_with(name)) return true;
  const auto value = parse(take_part(rest).substr(name.size()));
  if (value) to = *value;
  return value.has_value();
}

// `align_bytes`: of a key that names no alignment.
Expected<Problem> parse_key_with(std::string_view text, int64_t align_bytes) {
  const auto refuse = [&] { return usage_error(in_quotes(text) + " is no key of a problem"); };
  std::string_view rest = text;
  const auto type = parse_data_type(take_part(rest));
  const auto accumulator = parse_data_type(take_part(rest));
  const auto math = parse_math_mode(take_part(rest));
  const auto layout = parse_layout(take_part(rest));
  const auto shape = parse_shape(take_part(rest));
  if (!type || !accumulator || !math || !layout || !shape) return refuse();
  Problem p;
  p.type = *type;
  p.accumulator = *accumulator;
  p.math = *math;
  p.layout = *layout;
  p.shape = *shape;
  // Strides that are left out are those of packed matrices, whatever the leading dimensions.
  int64_t lds[3] = {};
  if (!take_numbers<3>(rest, "ld=", {&lds[0], &lds[1], &lds[2]})) return refuse();
  const bool has_lds = lds[0] != 0;
  if (!take_numbers<1>(rest, "batch=", {&p.batch})) return refuse();
  pack(p);
  if (has_lds) {
    p.lda = lds[0];
    p.ldb = lds[1];
    p.ldc = lds[2];
  }
  if (!take_numbers<3>(rest, "stride=", {&p.stride_a, &p.stride_b, &p.stride_c})) return refuse();
  if (!take_numbers<1>(rest, "align=", {&align_bytes})) return refuse();
  p.align_bytes = static_cast<int>(align_bytes);
  if (p.align_bytes != align_bytes) return refuse();
  if (p.batch == 1) p.stride_a = p.stride_b = p.stride_c = 0;
  if (!take_name(rest, "out=", parse_data_type, p.result)) return refuse();
  if (!take_name(rest, "epilogue=", parse_epilogue, p.epilogue)) return refuse();
  if (!rest.empty() || text.ends_with('/') || !validate(p)) return refuse();
  return p;
}

}  // namespace

Expected<Problem> parse_key(std::string_view text) {
  return parse_key_with(text, kUsualAlignBytes);
}

Expected<Problem> parse_old_key(std::string_view text) {
  return parse_key_with(text, kOldUsualAlignBytes);
}

}  // namespace gemmtune
