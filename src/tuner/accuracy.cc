#include "tuner/accuracy.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "codegen/support_kernels.h"

namespace gemmtune::tuner {

AccuracyProbe::AccuracyProbe(const Problem& p, const OperandSets& sets, int count) {
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
      const double product =
          static_cast<double>(random_value(a.seed, a.first + static_cast<uint64_t>(at_a))) *
          static_cast<double>(random_value(b.seed, b.first + static_cast<uint64_t>(at_b)));
      element.exact += product;
      element.magnitude += std::abs(product);
    }
    elements_.push_back(element);
  }
}

gpu::Result<double> AccuracyProbe::max_error(const OperandSets& sets, const gpu::Stream& stream,
                                             const Enqueue& enqueue) const {
  if (auto done = enqueue(sets.operands(0), stream.handle()); !done)
    return tl::unexpected(done.error());
  std::vector<float> values(elements_.size());
  for (size_t e = 0; e < elements_.size(); ++e) {
    if (auto done = sets.read_c(stream, elements_[e].offset, values[e]); !done)
      return tl::unexpected(done.error());
  }
  if (auto done = stream.synchronize(); !done) return tl::unexpected(done.error());
  double worst = 0;
  for (size_t e = 0; e < elements_.size(); ++e) {
    if (elements_[e].magnitude == 0) continue;
    const double error = std::abs(values[e] - elements_[e].exact) / elements_[e].magnitude;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

}  // namespace gemmtune::tuner
