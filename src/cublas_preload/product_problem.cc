#include "cublas_preload/product_problem.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "cublas_preload/descriptors.h"

namespace gemmtune::cublas_preload {
namespace {

tl::unexpected<Error> none(std::string reason) {
  return make_error(ErrorKind::unsupported, std::move(reason));
}

// Why the call is more than a product of matrices; empty for nothing.
std::string_view odd_part(const Product& product) {
  constexpr std::pair<Oddity, std::string_view> kParts[] = {
      {Oddity::unknown_descriptor, "a descriptor that cannot be read"},
      {Oddity::grouped, "products of several sizes in one call"},
      {Oddity::pointer_array, "a batch by pointer arrays"},
      {Oddity::planar, "complex numbers in two planes"},
      {Oddity::scalar_vector, "a vector of alphas"},
      {Oddity::transposed_result, "a transposed C"},
      {Oddity::vector_apart, "a vector whose elements lie apart, or run backwards"},
      {Oddity::sm_count, "a limit on multiprocessors"},
      {Oddity::attribute, "scales of results or of one operand alone, amax or another attribute"},
      {Oddity::sizes_disagree, "matrices whose sizes do not go together"},
      {Oddity::batches_disagree, "matrices of different batch counts"},
      {Oddity::separate_c, "a C that is read and a D that is another matrix"}};
  for (const auto& [oddity, text] : kParts) {
    if (has(product, oddity)) return text;
  }
  return "";
}

std::string type_name(lt::ElementType type) {
  switch (static_cast<int>(type)) {
    case 0:
      return "f32";
    case 1:
      return "f64";
    case 2:
      return "f16";
    case 14:
      return "bf16";
    case 3:
      return "i8";
    case 8:
      return "u8";
    case 10:
      return "i32";
    case 28:
      return "e4m3";
    case 29:
      return "e5m2";
    case 33:
      return "e2m1";
    case 4:
    case 5:
    case 6:
    case 15:
      return "complex";
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

std::optional<DataType> data_type(lt::ElementType type) {
  switch (type) {
    case lt::ElementType::f32:
      return DataType::f32;
    case lt::ElementType::f16:
      return DataType::f16;
    case lt::ElementType::bf16:
      return DataType::bf16;
    case lt::ElementType::e4m3:
      return DataType::e4m3;
    case lt::ElementType::e5m2:
      return DataType::e5m2;
    case lt::ElementType::i8:
      return DataType::i8;
    case lt::ElementType::i32:
      return DataType::i32;
  }
  return std::nullopt;
}

Expected<void> take_types(const Product& product, Problem& problem) {
  const auto a = data_type(product.a.type);
  const auto result = data_type(product.d.type);
  if (!a || product.b.type != product.a.type || !result || is_8_bit(*result)) {
    const std::string first = type_name(product.a.type);
    if (product.b.type == product.a.type && product.d.type == product.a.type) return none(first);
    return none(
        fmt::format("{} {} -> {}", first, type_name(product.b.type), type_name(product.d.type)));
  }
  problem.type = *a;
  if (*result != *a) problem.result = *result;
  return {};
}

// The mode of f32 products that a handle asks for.
Expected<MathMode> handle_math(int32_t mode) {
  switch (mode & ~vendor::blas::kFullPrecisionReduction) {
    case static_cast<int>(vendor::blas::MathMode::standard):
    case static_cast<int>(vendor::blas::MathMode::pedantic):
      return MathMode::ieee;
    case static_cast<int>(vendor::blas::MathMode::tensor):
      return MathMode::f16;
    case static_cast<int>(vendor::blas::MathMode::tf32):
      return MathMode::tf32;
    default:
      return none(fmt::format("math mode {} (emulation)", mode));
  }
}

// How sums and products are formed.
Expected<void> take_compute(const Product& product, Problem& problem) {
  Expected<MathMode> math = MathMode::ieee;
  switch (static_cast<int>(product.compute)) {
    case 64:  // 16F
    case 65:  // ... pedantic
      problem.accumulator = DataType::f16;
      break;
    case 68:  // 32F
      math = handle_math(product.math_mode);
      break;
    case 69:  // ... pedantic
      break;
    case 72:  // 32I
    case 73:  // ... pedantic
      problem.accumulator = DataType::i32;
      break;
    case 74:
      math = MathMode::f16;
      break;
    case 75:
      math = problem.type == DataType::f32 ? none("f32 by bf16 products") : math;
      break;
    case 77:
      math = MathMode::tf32;
      break;
    default:
      return none(fmt::format("compute type {}", static_cast<int>(product.compute)));
  }
  if (!math) return tl::unexpected(math.error());
  // The faster modes say something of f32 operands only.
  if (problem.type == DataType::f32) problem.math = *math;
  if (product.fast_sums != 0) problem.math = MathMode::fast_accum;
  if (product.scale_type != scale_type_of(product.compute))
    return none("alpha and beta of type " + type_name(product.scale_type));
  return {};
}

// D's rows are the problem's here; canonical() turns it around with the rest.
Expected<void> take_epilogue(const Product& product, Problem& problem) {
  switch (product.epilogue) {
    case lt::Epilogue::none:
      return {};
    case lt::Epilogue::relu:
    case lt::Epilogue::relu_bias:
      problem.epilogue.activation = kRelu;
      break;
    case lt::Epilogue::gelu:
    case lt::Epilogue::gelu_bias:
      problem.epilogue.activation = kGeluTanh;
      break;
    case lt::Epilogue::bias:
      break;
    default:
      return none(fmt::format("epilogue {}", static_cast<uint32_t>(product.epilogue)));
  }
  constexpr auto kBiasBit = static_cast<uint32_t>(lt::Epilogue::bias);
  if ((static_cast<uint32_t>(product.epilogue) & kBiasBit) == 0) return {};
  problem.epilogue.bias = kBiasPerRow;
  if (product.bias_type != Product::kTypeOfResult &&
      product.bias_type != static_cast<int32_t>(product.d.type))
    return none("a bias of another type than C");
  return {};
}

// Its vectors are those of rows of op(A) and columns of op(B), as the problem's.
Expected<void> take_scales(const Product& product, Problem& problem) {
  switch (product.scales) {
    case ProductScales::scalar:
      problem.epilogue.scale = kScalePerTensor;
      break;
    case ProductScales::outer_vector:
      if (product.batch > 1) return none("scales of the rows of a batch");
      problem.epilogue.scale = kScalePerRow;
      break;
    case ProductScales::vec128:
      problem.epilogue.scale = kScale1x128;
      break;
    case ProductScales::vec128_by_block:
      problem.epilogue.scale = kScale1x128By128x128;
      break;
    case ProductScales::block_by_vec128:
      problem.epilogue.scale = kScale128x128By1x128;
      break;
    case ProductScales::none:
      break;
  }
  if (has_block_scales(problem.epilogue.scale)) {
    if (product.batch > 1) return none("scales of the blocks of a batch");
    problem.math = MathMode::ieee;  // the sums of each block are scaled, and added, by themselves
  }
  return {};
}

// The order of op(X).
Expected<Order> order_of(const Operand& operand, lt::Transpose op) {
  constexpr int kConjugate = 2;  // transposes, as of real matrices
  if (static_cast<int>(op) < 0 || static_cast<int>(op) > kConjugate)
    return none("an operation that is not known");
  if (operand.order != lt::Order::column_major && operand.order != lt::Order::row_major)
    return none("a matrix in tiles");
  const Order order =
      operand.order == lt::Order::row_major ? Order::row_major : Order::column_major;
  return op == lt::Transpose::no ? order : flipped(order);
}

Expected<void> take_memory(const Product& product, Problem& problem) {
  const auto a = order_of(product.a, product.transpose_a);
  const auto b = order_of(product.b, product.transpose_b);
  const auto c = order_of(product.d, lt::Transpose::no);
  for (const auto* order : {&a, &b, &c}) {
    if (!*order) return tl::unexpected(order->error());
  }
  problem.layout = {*a, *b, *c};
  problem.lda = product.a.ld;
  problem.ldb = product.b.ld;
  problem.ldc = product.d.ld;
  problem.batch = product.batch;
  problem.stride_a = product.a.stride;
  problem.stride_b = product.b.stride;
  problem.stride_c = product.d.stride;
  problem.align_bytes = product.align_bytes;
  return {};
}

// Reasons without numbers: each names a kind of products.
Expected<void> check(const Problem& problem) {
  if (validate(problem)) return {};
  Problem single = problem;
  single.batch = 1;
  single.stride_a = single.stride_b = single.stride_c = 0;
  if (problem.batch > 1 && validate(single)) return none("a batch whose results interleave in C");
  return none("types, sizes or an alignment that no kernel computes");
}

}  // namespace

Expected<Problem> problem_of(const Product& product) {
  if (const std::string_view part = odd_part(product); !part.empty())
    return none(std::string(part));
  Problem problem;
  problem.shape = {product.m, product.n, product.k};
  if (auto taken = take_types(product, problem); !taken) return tl::unexpected(taken.error());
  if (product.m == 0 || product.n == 0 || product.k == 0 || product.batch == 0)
    return none("an empty matrix");
  if (auto taken = take_compute(product, problem); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_epilogue(product, problem); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_scales(product, problem); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_memory(product, problem); !taken) return tl::unexpected(taken.error());
  problem = canonical(problem);
  if (auto fits = check(problem); !fits) return tl::unexpected(fits.error());
  return problem;
}

}  // namespace gemmtune::cublas_preload
