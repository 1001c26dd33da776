#include "tuner/verify/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "codegen/support_kernels.h"
#include "core/elements.h"
#include "tuner/verify/epilogue_reference.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

namespace {

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

}  // namespace

bool held_against_all(const Problem& problem) {
  return problem.type == DataType::f32 && problem.math == MathMode::ieee;
}

std::optional<std::string> too_inaccurate(const Problem& problem, double error,
                                          std::optional<double> vendor_error) {
  if (problem.type != DataType::f32 || !promises_f32_accuracy(problem.math)) return std::nullopt;
  // Not by >, which a NaN passes. Where cuBLASLt is exact there is nothing to compare with.
  if (!vendor_error || *vendor_error == 0 || error <= kErrorAllowance * *vendor_error) {
    return std::nullopt;
  }
  return fmt::format(
      "error {:.2e} on the benchmark's own operands, more than {} times cuBLASLt's {:.2e}", error,
      kErrorAllowance, *vendor_error);
}

AccuracyProbe::AccuracyProbe(const Problem& p, const OperandSets& sets, int count) : problem_(p) {
  const auto value = [](const OperandSets::Origin& from, int64_t at) {
    return static_cast<double>(
        rounded(random_value(from.seed, from.first + static_cast<uint64_t>(at)), from.type));
  };
  std::mt19937_64 random(1);
  const OperandSets::Origin a = sets.origin_a();
  const OperandSets::Origin b = sets.origin_b();
  const Shape& s = p.shape;
  for (int e = 0; e < count; ++e) {
    const int64_t i =
        e == 0 ? s.m - 1 : static_cast<int64_t>(random() % static_cast<uint64_t>(s.m));
    const int64_t j =
        e == 0 ? s.n - 1 : static_cast<int64_t>(random() % static_cast<uint64_t>(s.n));
    Element element{i * p.ldc + j, 0, 0};
    for (int64_t l = 0; l < s.k; ++l) {
      const int64_t at_a = p.layout.a == Order::row_major ? i * p.lda + l : l * p.lda + i;
      const int64_t at_b = p.layout.b == Order::row_major ? l * p.ldb + j : j * p.ldb + l;
      const double product = value(a, at_a) * value(b, at_b);
      element.exact += product;
      element.magnitude += std::abs(product);
    }
    if (p.epilogue.bias != kNoBias) {
      const double added = value(sets.origin_bias(), p.epilogue.bias == kBiasPerRow ? i : j);
      element.exact += added;
      element.magnitude += std::abs(added);
    }
    element.exact = activated(p.epilogue.activation, element.exact);
    elements_.push_back(element);
  }
}

gpu::Result<Accuracy> AccuracyProbe::measure(const OperandSets& sets, const gpu::Stream& stream,
                                             const Enqueue& enqueue) const {
  const gpu::BusyTime busy(*stream.context());
  if (auto done = enqueue(sets.operands(0), stream.handle()); !done)
    return tl::unexpected(done.error());
  const DataType type = result_type(problem_);
  const auto size = static_cast<size_t>(size_bytes(type));
  std::vector<std::byte> bytes(elements_.size() * size);
  for (size_t e = 0; e < elements_.size(); ++e) {
    const auto to = std::span(bytes).subspan(e * size, size);
    if (auto done = sets.read_c(stream, elements_[e].offset, to); !done)
      return tl::unexpected(done.error());
  }
  if (auto done = stream.synchronize(); !done) return tl::unexpected(done.error());
  return judged(decode(bytes, type));
}

Accuracy AccuracyProbe::judged(std::span<const float> values) const {
  Accuracy out;
  for (size_t e = 0; e < elements_.size(); ++e) {
    if (elements_[e].magnitude == 0) continue;
    const auto& [offset, exact, magnitude] = elements_[e];
    const double error = std::abs(values[e] - exact);
    out.max_error = std::isnan(error) ? INFINITY : std::max(out.max_error, error / magnitude);
    // Not by >, which a NaN passes.
    if (!(error <= error_bound(problem_, magnitude, exact))) out.within_bound = false;
  }
  return out;
}

}  // namespace gemmtune::tuner
