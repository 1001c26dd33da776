#include "tuner/verify/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "codegen/support_kernels.h"
#include "core/elements.h"
#include "tuner/verify/epilogue_reference.h"
#include "tuner/verify/random_element.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

namespace {

constexpr int64_t kRunLength = 8;  // elements

bool promises_f32_accuracy(MathMode math) {
  switch (math) {
    case MathMode::ieee:
    case MathMode::tf32x3:
    case MathMode::bf16x6:
    case MathMode::bf16x9:
      return true;
    case MathMode::tf32:
    case MathMode::f16:
    case MathMode::fast_accum:
      break;
  }
  return false;
}

// How many times the vendor's error a kernel of f32 may have.
double error_allowance(const Problem& problem) {
  return is_plain_f32(problem) ? 2 : 1;
}

}  // namespace

bool held_against_all(const Problem& problem) {
  return is_plain_f32(problem);
}

std::optional<std::string> too_inaccurate(const Problem& problem, double error,
                                          std::optional<double> vendor_error) {
  if (problem.type != DataType::f32 || !promises_f32_accuracy(problem.math)) return std::nullopt;
  // Not by >, which a NaN passes. Where cuBLASLt is exact there is nothing to compare with.
  const double allowance = error_allowance(problem);
  if (!vendor_error || *vendor_error == 0 || error <= allowance * *vendor_error) {
    return std::nullopt;
  }
  return fmt::format("error {:.2e} on the benchmark's own operands, more than {}cuBLASLt's {:.2e}",
                     error, allowance > 1 ? fmt::format("{} times ", allowance) : std::string(),
                     *vendor_error);
}

AccuracyProbe::AccuracyProbe(const Problem& p, const OperandSets& sets, int runs) : problem_(p) {
  auto below = [random = std::mt19937_64(1)](int64_t n) mutable {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const Origins origins{sets.origin_a(), sets.origin_b(), sets.origin_bias(), sets.origin_scale_a(),
                        sets.origin_scale_b()};
  const Shape& s = p.shape;
  const int64_t length = std::min(kRunLength, s.n);
  for (int r = 0; r < runs; ++r) {
    const int64_t row = r == 0 ? s.m - 1 : below(s.m);
    const int64_t first = r == 0 ? s.n - length : below(s.n - length + 1);
    const int64_t entry = r == 0 ? p.batch - 1 : below(p.batch);
    Origins of_entry = origins;
    of_entry.a.first += static_cast<uint64_t>(entry * p.stride_a);
    of_entry.b.first += static_cast<uint64_t>(entry * p.stride_b);
    Run run{entry * p.stride_c + row * p.ldc + first, {}};
    for (int64_t j = first; j < first + length; ++j)
      run.elements.push_back(exact_element(of_entry, row, j));
    runs_.push_back(std::move(run));
  }
}

AccuracyProbe::Element AccuracyProbe::exact_element(const Origins& origins, int64_t row,
                                                    int64_t column) const {
  const auto value = [](const OperandSets::Origin& from, int64_t at) {
    return static_cast<double>(
        random_element(random_value(from.seed, from.first + static_cast<uint64_t>(at)), from.type));
  };
  const Problem& p = problem_;
  const auto scale_at = [&](int64_t l) {
    if (p.epilogue.scale == kNoScale) return 1.0;
    const ScaleIndex at = scale_index(p, row, column, l);
    return value(origins.scale_a, at.a) * value(origins.scale_b, at.b);
  };
  Element element{0, 0};
  for (int64_t l = 0; l < p.shape.k; ++l) {
    const int64_t at_a = p.layout.a == Order::row_major ? row * p.lda + l : l * p.lda + row;
    const int64_t at_b = p.layout.b == Order::row_major ? l * p.ldb + column : column * p.ldb + l;
    const double product = value(origins.a, at_a) * value(origins.b, at_b) * scale_at(l);
    element.exact += product;
    element.magnitude += std::abs(product);
  }
  if (p.epilogue.bias != kNoBias) {
    const double added = value(origins.bias, p.epilogue.bias == kBiasPerRow ? row : column);
    element.exact += added;
    element.magnitude += std::abs(added);
  }
  element.exact = activated(p.epilogue.activation, element.exact);
  return element;
}

gpu::Result<Accuracy> AccuracyProbe::measure(const OperandSets& sets, const gpu::Stream& stream,
                                             const Enqueue& enqueue) const {
  const gpu::BusyTime busy(*stream.context());
  // What this one leaves out is not right because another has computed it before.
  if (auto filled = sets.fill_c_with_nan(stream); !filled) return tl::unexpected(filled.error());
  if (auto done = enqueue(sets.operands(0), stream.handle()); !done)
    return tl::unexpected(done.error());
  const DataType type = result_type(problem_);
  const auto size = static_cast<size_t>(size_bytes(type));
  size_t elements = 0;
  for (const Run& run : runs_) elements += run.elements.size();
  std::vector<std::byte> bytes(elements * size);
  size_t at = 0;
  for (const Run& run : runs_) {
    const auto to = std::span(bytes).subspan(at, run.elements.size() * size);
    if (auto done = sets.read_c(stream, run.offset, to); !done) return tl::unexpected(done.error());
    at += to.size();
  }
  if (auto done = stream.synchronize(); !done) return tl::unexpected(done.error());
  return judged(decode(bytes, type));
}

Accuracy AccuracyProbe::judged(std::span<const float> values) const {
  Accuracy out;
  size_t at = 0;
  for (const Run& run : runs_) {
    for (const auto& [exact, magnitude] : run.elements) {
      const double error = std::abs(values[at++] - exact);
      if (magnitude == 0) continue;
      out.max_error = std::isnan(error) ? INFINITY : std::max(out.max_error, error / magnitude);
      // Not by >, which a NaN passes.
      if (!(error <= error_bound(problem_, magnitude, exact))) out.within_bound = false;
    }
  }
  return out;
}

}  // namespace gemmtune::tuner
