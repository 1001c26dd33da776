#include "cublas_preload/own/slower_here.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "cublas_preload/lower_median.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr uint64_t kEnough = 8;
constexpr float kMargin = 1.01F;

uint64_t taken(const Samples& samples) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(samples.taken))
      .load(std::memory_order_acquire);
}

// Of the samples that are kept.
float median(const Samples& samples) {
  std::array<float, kSamplesKept> us = {};
  const std::span kept = std::span(us).first(std::min<uint64_t>(taken(samples), kSamplesKept));
  for (size_t i = 0; i < kept.size(); ++i)
    kept[i] =
        std::atomic_ref<float>(const_cast<float&>(samples.us[i])).load(std::memory_order_relaxed);
  return lower_median(kept);
}

}  // namespace

bool is_slower_here(const Samples& own, const Samples& cublas) {
  if (taken(own) < kEnough || taken(cublas) < kEnough) return false;
  return median(own) > kMargin * median(cublas);
}

}  // namespace gemmtune::cublas_preload
