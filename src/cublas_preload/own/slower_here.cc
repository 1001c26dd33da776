#include "cublas_preload/own/slower_here.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

namespace gemmtune::cublas_preload {
namespace {

constexpr uint64_t kEnough = 8;
constexpr float kMargin = 1.01F;

uint64_t taken(const Samples& samples) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(samples.taken))
      .load(std::memory_order_acquire);
}

// Of the samples that are kept; the smaller of the two in the middle.
float median(const Samples& samples) {
  const auto count = std::min<uint64_t>(taken(samples), kSamplesKept);
  std::array<float, kSamplesKept> us = {};
  for (size_t i = 0; i < count; ++i)
    us[i] =
        std::atomic_ref<float>(const_cast<float&>(samples.us[i])).load(std::memory_order_relaxed);
  const size_t middle = (count - 1) / 2;
  std::sort(us.begin(), std::next(us.begin(), static_cast<std::ptrdiff_t>(count)));
  return us[middle];
}

}  // namespace

bool is_slower_here(const Samples& own, const Samples& cublas) {
  if (taken(own) < kEnough || taken(cublas) < kEnough) return false;
  return median(own) > kMargin * median(cublas);
}

}  // namespace gemmtune::cublas_preload
