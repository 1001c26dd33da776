#include "dispatch/request.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace gemmtune::dispatch {
namespace {

// An enumerator that came through the C interface may be any number.
template <class To>
bool convert(int value, int count, To& to) {
  if (value < 0 || value >= count) return false;
  to = static_cast<To>(value);
  return true;
}

static_assert(static_cast<int>(DataType::f32) == GEMMTUNE_F32 &&
              static_cast<int>(DataType::f16) == GEMMTUNE_F16 &&
              static_cast<int>(DataType::bf16) == GEMMTUNE_BF16 &&
              static_cast<int>(DataType::e4m3) == GEMMTUNE_E4M3 &&
              static_cast<int>(DataType::e5m2) == GEMMTUNE_E5M2 &&
              static_cast<int>(DataType::i8) == GEMMTUNE_I8 &&
              static_cast<int>(DataType::i32) == GEMMTUNE_I32);
static_assert(static_cast<int>(MathMode::ieee) == GEMMTUNE_MATH_IEEE &&
              static_cast<int>(MathMode::tf32) == GEMMTUNE_MATH_TF32 &&
              static_cast<int>(MathMode::tf32x3) == GEMMTUNE_MATH_3XTF32 &&
              static_cast<int>(MathMode::f16) == GEMMTUNE_MATH_F16 &&
              static_cast<int>(MathMode::bf16x6) == GEMMTUNE_MATH_BF16X6 &&
              static_cast<int>(MathMode::bf16x9) == GEMMTUNE_MATH_BF16X9 &&
              static_cast<int>(MathMode::fast_accum) == GEMMTUNE_MATH_FAST_ACCUM);
static_assert(static_cast<int>(Order::row_major) == GEMMTUNE_ROW_MAJOR &&
              static_cast<int>(Order::column_major) == GEMMTUNE_COLUMN_MAJOR);
static_assert(kBiasPerColumn == int{GEMMTUNE_BIAS_PER_COLUMN} &&
              kBiasPerRow == int{GEMMTUNE_BIAS_PER_ROW});
static_assert(kRelu == int{GEMMTUNE_ACTIVATION_RELU} &&
              kGeluTanh == int{GEMMTUNE_ACTIVATION_GELU_TANH} &&
              kGeluErf == int{GEMMTUNE_ACTIVATION_GELU_ERF} &&
              kSilu == int{GEMMTUNE_ACTIVATION_SILU});
static_assert(kScalePerTensor == int{GEMMTUNE_SCALE_PER_TENSOR} &&
              kScalePerRow == int{GEMMTUNE_SCALE_PER_ROW} &&
              kScale1x128 == int{GEMMTUNE_SCALE_1X128} &&
              kScale1x128By128x128 == int{GEMMTUNE_SCALE_1X128_128X128} &&
              kScale128x128By1x128 == int{GEMMTUNE_SCALE_128X128_1X128});
constexpr int kBiases = 3;
constexpr int kScales = 6;
constexpr int kActivations = 5;
constexpr int kTypes = 7;
constexpr int kModes = 7;
constexpr int kOrders = 2;
constexpr int kScalars = 5;

[[gnu::cold]] tl::unexpected<Failure> invalid_problem(const std::string& what) {
  return fail(GEMMTUNE_STATUS_INVALID_ARGUMENT, "gemmtune_problem: " + what);
}

[[gnu::cold]] tl::unexpected<Failure> invalid_problem(const char* field, int64_t value) {
  return invalid_problem(std::string(field) + " is " + std::to_string(value));
}

int64_t or_packed(int64_t value, int64_t smallest) {
  return value == GEMMTUNE_PACKED ? smallest : value;
}

uint32_t stated_align_bytes(const gemmtune_problem& problem) {
  return problem.align_bytes == GEMMTUNE_ALIGN_OF_POINTERS ? kUsualAlignBytes : problem.align_bytes;
}

// False for what is no gemmtune_result.
bool convert_result(int32_t value, std::optional<DataType>& result) {
  switch (value) {
    case GEMMTUNE_RESULT_OF_OPERANDS:
      return true;
    case GEMMTUNE_RESULT_F32:
      result = DataType::f32;
      return true;
    case GEMMTUNE_RESULT_F16:
      result = DataType::f16;
      return true;
    case GEMMTUNE_RESULT_BF16:
      result = DataType::bf16;
      return true;
    default:
      return false;
  }
}

bool is_size(int64_t value) {
  return value >= 1 && value <= kMaxDimension;
}

}  // namespace

Problem comparable(const Problem& problem) {
  Problem form = canonical(problem);
  if (form.batch == 1) form.stride_a = form.stride_b = form.stride_c = 0;
  form.align_bytes = alignment_class(form.align_bytes);
  return form;
}

std::optional<PackedRequest> packed_request(const gemmtune_problem& from) {
  const auto is_order = [](int32_t order) {
    return order == GEMMTUNE_ROW_MAJOR || order == GEMMTUNE_COLUMN_MAJOR;
  };
  // Products of such sizes are sizes that operands may have.
  const auto is_plain_size = [](int64_t size) { return size >= 1 && size <= int64_t{1} << 20; };
  const uint32_t align = stated_align_bytes(from);
  const bool is_f32 = from.type == GEMMTUNE_F32 && from.accumulator == GEMMTUNE_F32 &&
                      from.math == GEMMTUNE_MATH_IEEE;
  const bool is_packed = from.lda == GEMMTUNE_PACKED && from.ldb == GEMMTUNE_PACKED &&
                         from.ldc == GEMMTUNE_PACKED && from.batch == 1;
  // Zero is what each of these fields has where nothing is asked for.
  const bool is_plain = (from.result_type | from.bias | from.activation) == 0 &&
                        (from.reserved | from.flags | from.reserved_scale) == 0 &&
                        from.scale == 0 && from.max_workspace_bytes == 0;
  if (from.struct_bytes != sizeof(gemmtune_problem) || !is_plain || !is_f32 || !is_packed ||
      !is_order(from.order_a) || !is_order(from.order_b) || from.order_c != GEMMTUNE_ROW_MAJOR ||
      !is_plain_size(from.m) || !is_plain_size(from.n) || !is_plain_size(from.k) ||
      align < sizeof(float) || align > 4096 || (align & (align - 1)) != 0 ||
      (from.scalars != GEMMTUNE_SCALARS_HOST && from.scalars != GEMMTUNE_SCALARS_DEVICE)) {
    return std::nullopt;
  }
  // The orders that canonical() gives to vectors.
  const Order order_a = from.m == 1 ? Order::row_major : static_cast<Order>(from.order_a);
  const Order order_b = from.n == 1 ? Order::column_major : static_cast<Order>(from.order_b);
  PackedRequest request;
  request.problem = {static_cast<uint32_t>(from.m),
                     static_cast<uint32_t>(from.n),
                     static_cast<uint32_t>(from.k),
                     order_a,
                     order_b,
                     static_cast<uint32_t>(alignment_class(align))};
  request.device_scalars = from.scalars == GEMMTUNE_SCALARS_DEVICE;
  return request;
}

Outcome<Request> parse_request(const gemmtune_problem& from) {
  if (from.struct_bytes != sizeof(gemmtune_problem))
    return invalid_problem("struct_bytes", from.struct_bytes);
  if (from.reserved != 0) return invalid_problem("reserved", from.reserved);
  if (from.reserved_scale != 0) return invalid_problem("reserved_scale", from.reserved_scale);
  if ((from.flags & ~GEMMTUNE_DETERMINISTIC) != 0) return invalid_problem("flags", from.flags);
  if (from.max_workspace_bytes < GEMMTUNE_NO_WORKSPACE)
    return invalid_problem("max_workspace_bytes", from.max_workspace_bytes);
  Problem p;
  if (!convert(from.type, kTypes, p.type)) return invalid_problem("type", from.type);
  if (!convert(from.accumulator, kTypes, p.accumulator))
    return invalid_problem("accumulator", from.accumulator);
  if (!convert_result(from.result_type, p.result))
    return invalid_problem("result_type", from.result_type);
  if (!convert(from.bias, kBiases, p.epilogue.bias)) return invalid_problem("bias", from.bias);
  if (!convert(from.activation, kActivations, p.epilogue.activation))
    return invalid_problem("activation", from.activation);
  if (!convert(from.scale, kScales, p.epilogue.scale)) return invalid_problem("scale", from.scale);
  if (!convert(from.math, kModes, p.math)) return invalid_problem("math", from.math);
  if (!convert(from.order_a, kOrders, p.layout.a)) return invalid_problem("order_a", from.order_a);
  if (!convert(from.order_b, kOrders, p.layout.b)) return invalid_problem("order_b", from.order_b);
  if (!convert(from.order_c, kOrders, p.layout.c)) return invalid_problem("order_c", from.order_c);
  if (from.scalars < 0 || from.scalars >= kScalars) return invalid_problem("scalars", from.scalars);
  // Sizes first: what follows multiplies them.
  for (const auto& [name, size] : {std::pair{"m", from.m}, std::pair{"n", from.n},
                                   std::pair{"k", from.k}, std::pair{"batch", from.batch}}) {
    if (!is_size(size)) return invalid_problem(name, size);
  }
  p.shape = {from.m, from.n, from.k};
  p.batch = from.batch;
  if (from.align_bytes > uint32_t{1} << 30) return invalid_problem("align_bytes", from.align_bytes);
  p.align_bytes = static_cast<int>(stated_align_bytes(from));
  p.lda = p.ldb = p.ldc = 0;
  pack(p);
  p.lda = or_packed(from.lda, p.lda);
  p.ldb = or_packed(from.ldb, p.ldb);
  p.ldc = or_packed(from.ldc, p.ldc);
  // Packed strides follow from the leading dimensions.
  for (const auto& [name, stated, ld] :
       {std::tuple{"lda", from.lda, p.lda}, std::tuple{"ldb", from.ldb, p.ldb},
        std::tuple{"ldc", from.ldc, p.ldc}}) {
    if (stated < GEMMTUNE_PACKED || stated == 0 || ld > kMaxDimension)
      return invalid_problem(name, stated);
  }
  if (p.batch > 1) {
    p.stride_a = p.stride_b = p.stride_c = 0;
    pack(p);
    p.stride_a = or_packed(from.stride_a, p.stride_a);
    p.stride_b = or_packed(from.stride_b, p.stride_b);
    p.stride_c = or_packed(from.stride_c, p.stride_c);
  }
  if (auto valid = validate(p); !valid) return invalid_problem(valid.error().message);
  Request request;
  request.problem = comparable(p);
  request.operands_swapped = p.layout.c == Order::column_major;
  request.device_scalars = from.scalars == GEMMTUNE_SCALARS_DEVICE;
  request.deterministic = (from.flags & GEMMTUNE_DETERMINISTIC) != 0;
  if (from.max_workspace_bytes != 0)
    request.max_workspace_bytes = std::max<int64_t>(from.max_workspace_bytes, 0);
  return request;
}

}  // namespace gemmtune::dispatch
