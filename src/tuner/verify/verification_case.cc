#include "tuner/verify/verification_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/arch.h"
#include "core/elements.h"
#include "tuner/verify/epilogue_reference.h"
#include "tuner/verify/random_element.h"

#include "parts/shared/random_value.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::tuner {
namespace {

constexpr int64_t kExactInF16 = 2048;  // integers up to it
// Tensor cores cut the sums of 8-bit products off behind 13 bits of the largest term.
constexpr int64_t kExactOf8Bit = 8192;
constexpr double kCutOff = 0x1p-13;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// As GPUs return it. Rounding that carries makes -0 of it.
constexpr auto kNanOfGpus = std::bit_cast<float>(0x7fffffffU);
constexpr float kLeastI8 = -128;

// What lies where a kernel is not to read: NaN, or an integer that is none of the small ones.
float unused_element(DataType type) {
  switch (type) {
    case DataType::i8:
      return 101;
    case DataType::i32:
      return -8'000'003;
    default:
      return kNan;
  }
}

// Fills a rows x columns matrix whose element (i, j) lies at i * row_step + j * column_step.
template <class Value>
void fill_matrix(std::vector<float>& to, int64_t offset, Order order, int64_t rows, int64_t columns,
                 int64_t ld, const Value& value) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t at = offset + (order == Order::row_major ? i * ld + j : j * ld + i);
      to[static_cast<size_t>(at)] = value(at);
    }
  }
}

// Values of k whose 8-bit products are summed in the tensor cores.
int64_t unpromoted_k(const Problem& p) {
  return p.math == MathMode::fast_accum ? p.shape.k
                                        : std::min<int64_t>(p.shape.k, kMostUnpromotedK);
}

// Integers up to so large, 5 at most, that every sum of their products is exact.
float largest_integer(const Problem& p) {
  const auto largest = [](int64_t exact, int64_t k) {
    const double root = std::sqrt(static_cast<double>(exact) / static_cast<double>(k));
    return std::clamp(std::floor(static_cast<float>(root)), 1.0F, 5.0F);
  };
  if (p.accumulator == DataType::f16) return largest(kExactInF16, p.shape.k);
  return is_fp8(p.type) ? largest(kExactOf8Bit, unpromoted_k(p)) : 5.0F;
}

// Integers in [-5, 4], or in as small a range as keeps sums in few bits exact; or uniform values of
// `type`. By position.
float element(const VerificationCase& test, DataType type, uint64_t seed, int64_t at) {
  const float uniform = random_value(seed, static_cast<uint64_t>(at));
  if (test.fill != Fill::small_integers) return random_element(uniform, type);
  return std::floor(uniform * (largest_integer(test.problem) - 0.001F));
}

// Puts a NaN and two infinities of opposite sign, or NaNs where the type has no infinities, where a
// few rows and columns of C see them; of i8 the number whose square is largest.
void plant_specials(const Problem& p, HostOperands& host) {
  const auto at_a = [&](int64_t i, int64_t l) {
    return static_cast<size_t>(p.layout.a == Order::row_major ? i * p.lda + l : l * p.lda + i);
  };
  const auto at_b = [&](int64_t l, int64_t j) {
    return static_cast<size_t>(p.layout.b == Order::row_major ? l * p.ldb + j : j * p.ldb + l);
  };
  const Shape& s = p.shape;
  if (p.type == DataType::i8) {
    host.a[at_a(s.m / 2, s.k - 1)] = host.a[at_a(s.m - 1, 0)] = kLeastI8;
    host.b[at_b(s.k / 2, s.n - 1)] = kLeastI8;
    return;
  }
  const float infinity = p.type == DataType::e4m3 ? kNan : std::numeric_limits<float>::infinity();
  host.a[at_a(s.m / 2, s.k - 1)] = p.type == DataType::f32 ? kNanOfGpus : kNan;
  host.a[at_a(s.m - 1, 0)] = infinity;
  host.b[at_b(s.k / 2, s.n - 1)] = -infinity;
}

double bias_of(const Problem& p, const HostOperands& host, int64_t i, int64_t j) {
  switch (p.epilogue.bias) {
    case kBiasPerColumn:
      return host.bias[static_cast<size_t>(j)];
    case kBiasPerRow:
      return host.bias[static_cast<size_t>(i)];
    case kNoBias:
      break;
  }
  return 0;
}

// What the product of element (i, l) of A and (l, j) of B is multiplied by.
double scale_of(const Problem& p, const HostOperands& host, int64_t i, int64_t j, int64_t l) {
  if (p.epilogue.scale == kNoScale) return 1;
  const ScaleIndex at = scale_index(p, i, j, l);
  return static_cast<double>(host.scale_a[static_cast<size_t>(at.a)]) *
         static_cast<double>(host.scale_b[static_cast<size_t>(at.b)]);
}

// Scales for a case: powers of two where sums have to stay exact.
std::vector<float> make_scales(const VerificationCase& test, int64_t count, uint64_t seed) {
  std::vector<float> scales;
  for (int64_t i = 0; i < count; ++i) {
    const float uniform = random_value(seed, static_cast<uint64_t>(i));
    scales.push_back(test.fill == Fill::small_integers ? std::exp2(std::floor(uniform)) : uniform);
  }
  return scales;
}

// NaN where scales of blocks are rounded up to whole units, which no result may have.
void plant_unused_scales(const BlockScales& of, std::vector<float>& scales) {
  const int64_t used = of.squares ? of.blocks(of.k) : of.lines;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (static_cast<int64_t>(i) % of.stride() >= used) scales[i] = kNan;
  }
}

// The result before its activation: i32 are modulo 2^32.
double result_of(const Problem& p, double exact) {
  if (p.accumulator != DataType::i32) return exact;
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(exact)));
}

// Sums of a row of one batch entry, and those of its products without their signs.
struct RowSums {
  std::vector<double> sum;
  std::vector<double> absolute;

  explicit RowSums(int64_t columns)
      : sum(static_cast<size_t>(columns)), absolute(static_cast<size_t>(columns)) {}

  void clear() {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(absolute.begin(), absolute.end(), 0.0);
  }
};

// Of k from `begin` up to `end`, without scales, in the order that walks B along memory.
void add_products(const Problem& p, const float* a, const float* b, int64_t i, int64_t begin,
                  int64_t end, RowSums& to) {
  const bool a_rows = p.layout.a == Order::row_major;
  const bool b_rows = p.layout.b == Order::row_major;
  for (int64_t l = begin; l < end; ++l) {
    const double x = a[a_rows ? i * p.lda + l : l * p.lda + i];
    for (int64_t j = 0; j < p.shape.n; ++j) {
      const double product = x * static_cast<double>(b[b_rows ? l * p.ldb + j : j * p.ldb + l]);
      to.sum[static_cast<size_t>(j)] += product;
      to.absolute[static_cast<size_t>(j)] += std::abs(product);
    }
  }
}

// What is expected of one batch entry, row by row. Scales are the same for a part of k.
void multiply(const VerificationCase& test, int64_t batch, HostOperands& host) {
  const Problem& p = test.problem;
  const Shape& s = p.shape;
  const float* a = host.a.data() + batch * p.stride_a;
  const float* b = host.b.data() + batch * p.stride_b;
  const int64_t part_k = has_block_scales(p.epilogue.scale) ? kScaleBlock : s.k;
  RowSums scaled(s.n);
  RowSums part(s.n);
  for (int64_t i = 0; i < s.m; ++i) {
    scaled.clear();
    for (int64_t l = 0; l < s.k; l += part_k) {
      part.clear();
      add_products(p, a, b, i, l, std::min(l + part_k, s.k), part);
      for (int64_t j = 0; j < s.n; ++j) {
        const auto at = static_cast<size_t>(j);
        const double scale = scale_of(p, host, i, j, l);
        scaled.sum[at] += scale * part.sum[at];
        scaled.absolute[at] += std::abs(scale) * part.absolute[at];
      }
    }
    for (int64_t j = 0; j < s.n; ++j) {
      const auto at = static_cast<size_t>(batch * p.stride_c + i * p.ldc + j);
      const double old =
          test.beta == 0 ? 0.0 : static_cast<double>(test.beta) * static_cast<double>(host.c[at]);
      const double bias = bias_of(p, host, i, j);
      const double alpha = test.alpha;
      host.before[at] = result_of(p, alpha * scaled.sum[static_cast<size_t>(j)] + old + bias);
      host.expected[at] = activated(p.epilogue.activation, host.before[at]);
      host.magnitude[at] = std::abs(alpha) * scaled.absolute[static_cast<size_t>(j)] +
                           std::abs(old) + std::abs(bias);
    }
  }
}

}  // namespace

HostOperands make_operands(const VerificationCase& test) {
  const Problem& p = test.problem;
  const Shape& s = p.shape;
  HostOperands host;
  const DataType result = result_type(p);
  const auto elements = [](int64_t bytes, DataType type) {
    return static_cast<size_t>(bytes / size_bytes(type));
  };
  host.a.assign(elements(bytes_a(p), p.type), unused_element(p.type));
  host.b.assign(elements(bytes_b(p), p.type), unused_element(p.type));
  host.c.assign(elements(bytes_c(p), result), unused_element(result));
  host.before.assign(host.c.size(), 0.0);
  host.expected.assign(host.c.size(), 0.0);
  host.magnitude.assign(host.c.size(), 0.0);
  const auto value = [&test](DataType type, uint64_t stream) {
    return [&test, type, stream](int64_t at) {
      return element(test, type, test.seed * 3 + stream, at);
    };
  };
  for (int64_t z = 0; z < p.batch; ++z) {
    fill_matrix(host.a, z * p.stride_a, p.layout.a, s.m, s.k, p.lda, value(p.type, 0));
    fill_matrix(host.b, z * p.stride_b, p.layout.b, s.k, s.n, p.ldb, value(p.type, 1));
    if (test.beta == 0) continue;
    fill_matrix(host.c, z * p.stride_c, p.layout.c, s.m, s.n, p.ldc, value(result, 2));
  }
  for (int64_t i = 0; i < bias_elements(p); ++i) host.bias.push_back(value(result, 3)(i));
  const ScaleElements scales = scale_elements(p);
  host.scale_a = make_scales(test, scales.a, test.seed * 3 + 4);
  host.scale_b = make_scales(test, scales.b, test.seed * 3 + 5);
  if (has_block_scales(p.epilogue.scale)) {
    plant_unused_scales(block_scales_of_a(p), host.scale_a);
    plant_unused_scales(block_scales_of_b(p), host.scale_b);
  }
  if (test.fill == Fill::special) plant_specials(p, host);
  for (int64_t z = 0; z < p.batch; ++z) multiply(test, z, host);
  return host;
}

namespace {

// Half the distance from 1 to the next larger number: what rounding to the type may change.
double unit_roundoff(DataType type) {
  switch (type) {
    case DataType::f16:
      return 0x1p-11;
    case DataType::bf16:
      return 0x1p-8;
    case DataType::e4m3:  // no sums or results are
    case DataType::e5m2:
    case DataType::i8:
    case DataType::f32:
    case DataType::i32:  // exact, but compared as f32
      break;
  }
  return 0x1p-24;
}

// What a product of operands and alpha of up to 1.5 may be off where one of them is below the
// normal numbers of f16: two roundings by up to 2^-25.
constexpr double kSubnormalHalf = 0x1p-23;

// Of an activation in f32, relative to its argument.
constexpr double kActivationError = 8 * 0x1p-24;

// Largest relative error of a product of f32 operands, in f16 of normal ones.
double product_error(MathMode math) {
  switch (math) {
    case MathMode::tf32:
    case MathMode::f16:
      return 0x1p-10 + 0x1p-22;  // two operands, each rounded to 11 bits
    case MathMode::tf32x3:
      // The product of the smaller parts, and what both lose where they are cut off after 11 bits.
      return 0x1p-19;
    case MathMode::bf16x6:
      return 0x1p-24;  // three products of parts of 2^-9 and 2^-18, and what three parts lose
    case MathMode::bf16x9:
    case MathMode::ieee:
    case MathMode::fast_accum:  // of 8-bit operands: sum_error()
      break;
  }
  return 0;
}

// Roundings of sums in f16, in units of the magnitude: one after the other they are at most 2.8 of
// it for k up to 65536 (simulated), on H100s at most 0.6 up to 8192.
constexpr double kMostOfHalfSums = 16;

// Of the sums of a problem's products, relative to their magnitude.
double sum_error(const Problem& p) {
  const auto k = static_cast<double>(p.shape.k);
  double terms = 8 * std::sqrt(k);
  // Partial sums of values of both signs are below 5 magnitude / sqrt(k), so their roundings add up
  // to what does not grow with k; and a bound that did would let C = 0 pass.
  if (p.accumulator == DataType::f16) terms = std::min(terms, kMostOfHalfSums);
  const double rounding = (terms + 4) * unit_roundoff(p.accumulator);
  if (!is_fp8(p.type)) return rounding;
  // 33 terms for 32 of k are each cut off at the largest of them, a sum over part of k. Sums of
  // values of both signs are below 5 magnitude / sqrt(k) of what they sum; with 8 times the root
  // of the number of terms, k and a few.
  constexpr double kLambda = 8 * 5 * kCutOff;
  return rounding + kLambda * std::sqrt(static_cast<double>(unpromoted_k(p)) / k);
}

}  // namespace

double error_bound(const Problem& problem, double magnitude, double expected) {
  if (problem.accumulator == DataType::i32)
    return unit_roundoff(DataType::i32) * std::abs(expected);
  double sum = (sum_error(problem) + product_error(problem.math)) * magnitude;
  if (problem.math == MathMode::f16) sum += kSubnormalHalf * static_cast<double>(problem.shape.k);
  if (problem.epilogue.activation != kNoActivation)
    sum = steepest_slope(problem.epilogue.activation) * sum + kActivationError * magnitude;
  const DataType result = result_type(problem);
  if (result == DataType::f32) return sum;
  const double smallest = result == DataType::f16 ? 0x1p-25 : 0.0;
  return sum + std::max(unit_roundoff(result) * (std::abs(expected) + sum), smallest);
}

}  // namespace gemmtune::tuner
