// How types and epilogues are spelled in cuBLASLt.
#include <string>

#include "vendor/column_major.h"
#include "vendor/cublaslt_internal.h"

namespace gemmtune::vendor {
namespace {

lt::ElementType element_type(DataType type) {
  switch (type) {
    case DataType::f16:
      return lt::ElementType::f16;
    case DataType::bf16:
      return lt::ElementType::bf16;
    case DataType::e4m3:
      return lt::ElementType::e4m3;
    case DataType::e5m2:
      return lt::ElementType::e5m2;
    case DataType::i8:
      return lt::ElementType::i8;
    case DataType::i32:
      return lt::ElementType::i32;
    case DataType::f32:
      break;
  }
  return lt::ElementType::f32;
}

// Rows of D are columns of a row-major C.
bool is_per_row_of_d(const Problem& problem) {
  return problem.epilogue.bias == (column_major(problem).swapped ? kBiasPerColumn : kBiasPerRow);
}

}  // namespace

MatmulTypes matmul_types(const Problem& problem) {
  MatmulTypes types;
  types.operand = element_type(problem.type);
  types.result = element_type(result_type(problem));
  if (problem.math == MathMode::tf32) types.compute = lt::ComputeType::f32_fast_tf32;
  if (problem.math == MathMode::f16) types.compute = lt::ComputeType::f32_fast_f16;
  if (problem.accumulator == DataType::f16) {
    types.compute = lt::ComputeType::f16;
    types.scalar = lt::ElementType::f16;
  }
  if (problem.accumulator == DataType::i32) {
    types.compute = lt::ComputeType::i32;
    types.scalar = lt::ElementType::i32;
  }
  types.fast_sums = problem.math == MathMode::fast_accum;
  return types;
}

Expected<void> check_types(const Problem& problem) {
  if (problem.type != DataType::e5m2) return {};
  return make_error(ErrorKind::unsupported, "cuBLASLt has no product of two e5m2");
}

Expected<lt::Epilogue> matmul_epilogue(const Problem& problem) {
  const bool has_bias = problem.epilogue.bias != kNoBias;
  if (has_bias && !is_per_row_of_d(problem))
    return make_error(ErrorKind::unsupported, "cuBLASLt has no bias along this side of C");
  if (has_bias && is_fp8(problem.type) && result_type(problem) == DataType::f32)
    return make_error(ErrorKind::unsupported, "cuBLASLt's bias of 8-bit operands is not f32");
  switch (problem.epilogue.activation) {
    case kNoActivation:
      return has_bias ? lt::Epilogue::bias : lt::Epilogue::none;
    case kRelu:
      return has_bias ? lt::Epilogue::relu_bias : lt::Epilogue::relu;
    case kGeluTanh:
      return has_bias ? lt::Epilogue::gelu_bias : lt::Epilogue::gelu;
    case kGeluErf:
    case kSilu:
      break;
  }
  Epilogue activation;
  activation.activation = problem.epilogue.activation;
  return make_error(ErrorKind::unsupported, "cuBLASLt has no epilogue " + to_string(activation));
}

Expected<void> check_epilogue(const Problem& problem) {
  const auto epilogue = matmul_epilogue(problem);
  if (!epilogue) return tl::unexpected(epilogue.error());
  return {};
}

}  // namespace gemmtune::vendor
