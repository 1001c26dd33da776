#include "tuner/verify/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/elements.h"
#include "tuner/verify/epilogue_reference.h"

namespace gemmtune::tuner {
namespace {

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

std::string where(const VerificationCase& test, int64_t batch, int64_t i, int64_t j) {
  std::string text = fmt::format("case '{}' ({}): C[{}][{}]", test.name, key(test.problem), i, j);
  if (test.problem.batch > 1) text += fmt::format(" of batch entry {}", batch);
  return text;
}

// Words outside the matrix: guards, padding between rows, gaps between batch entries.
bool outside_untouched(const Problem& p, const HostOperands& host, std::span<const float> image,
                       int64_t& at) {
  std::vector<bool> inside(host.c.size(), false);
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      const int64_t row = z * p.stride_c + i * p.ldc;
      std::fill_n(inside.begin() + row, p.shape.n, true);
    }
  }
  const DataType type = result_type(p);
  const auto size = static_cast<int64_t>(host.c.size());
  const auto total = static_cast<int64_t>(image.size());
  for (int64_t w = 0; w < total; ++w) {
    const int64_t c = w - kGuardElements;
    const bool in_c = c >= 0 && c < size;
    if (in_c && inside[static_cast<size_t>(c)]) continue;
    const float before =
        in_c ? host.c[static_cast<size_t>(c)] : std::bit_cast<float>(guard_bits(w, type));
    if (!same_bits(image[static_cast<size_t>(w)], before)) {
      at = c;
      return false;
    }
  }
  return true;
}

// Whether `got` may stand for element `at`.
bool agrees(const VerificationCase& test, const HostOperands& host, size_t at, float got) {
  const Activation activation = test.problem.epilogue.activation;
  const DataType type = result_type(test.problem);
  const double expected = host.expected[at];
  if (host.before[at] == -INFINITY) return right_of_minus_infinity(activation, got);
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return static_cast<double>(got) == expected;
  if (test.fill == Fill::small_integers && is_exact(activation))
    return got == rounded(static_cast<float>(expected), type);
  const double bound = error_bound(test.problem, host.magnitude[at], expected);
  // The largest value within the bound may be too large for the type.
  if (std::isinf(got))
    return got == rounded(static_cast<float>(expected + std::copysign(bound, expected)), type);
  return std::abs(got - expected) <= bound;
}

}  // namespace

uint32_t guard_bits(int64_t i, DataType type) {
  // The payload's bits that the type has, the lowest always set: a plain NaN is no guard.
  const uint32_t mixed = static_cast<uint32_t>(i * 2654435761U) >> 10;
  if (type == DataType::i32) {
    constexpr float kLeastGuard = -16'000'000;
    return std::bit_cast<uint32_t>(kLeastGuard + static_cast<float>(mixed));
  }
  int first = 0;
  if (type == DataType::f16) first = 13;
  if (type == DataType::bf16) first = 16;
  const uint32_t lowest = 1U << first;
  const uint32_t payload = 0x3fffffU & ~(lowest - 1);
  // The upper bits of a product are the well mixed ones: 16-bit types keep only those.
  return 0x7fc00000U | lowest | (mixed & payload);
}

std::vector<float> guarded(std::span<const float> c, DataType type) {
  std::vector<float> image(c.size() + 2 * kGuardElements);
  for (size_t w = 0; w < image.size(); ++w)
    image[w] = std::bit_cast<float>(guard_bits(static_cast<int64_t>(w), type));
  std::copy(c.begin(), c.end(), image.begin() + kGuardElements);
  return image;
}

Verdict judge(const VerificationCase& test, const HostOperands& host,
              std::span<const float> image) {
  const Problem& p = test.problem;
  int64_t stray = 0;
  if (!outside_untouched(p, host, image, stray)) {
    return {VerdictKind::out_of_bounds,
            fmt::format("case '{}' ({}): wrote outside C, {} elements from its start", test.name,
                        key(p), stray),
            0};
  }
  Verdict verdict;
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      for (int64_t j = 0; j < p.shape.n; ++j) {
        const auto at = static_cast<size_t>(z * p.stride_c + i * p.ldc + j);
        const float got = image[at + kGuardElements];
        const double expected = host.expected[at];
        if (agrees(test, host, at, got)) {
          if (test.fill == Fill::random && host.magnitude[at] > 0 && std::isfinite(got)) {
            verdict.max_error =
                std::max(verdict.max_error, std::abs(got - expected) / host.magnitude[at]);
          }
          continue;
        }
        const bool unwritten =
            test.beta == 0 && same_bits(got, host.c[at]) && !std::isnan(expected);
        verdict.kind = unwritten ? VerdictKind::unwritten : VerdictKind::wrong_result;
        verdict.detail =
            where(test, z, i, j) +
            (unwritten ? " was not written" : fmt::format(" is {}, expected {}", got, expected));
        return verdict;
      }
    }
  }
  return verdict;
}

}  // namespace gemmtune::tuner
