#include "cublas_preload/own/slower_here.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

namespace gemmtune::cublas_preload {
namespace {

constexpr uint64_t kEnough = 8;
constexpr float kMargin = 1.01F;
constexpr double kDeviations = 3;  // asked for again and again while samples arrive

uint64_t taken(const Samples& samples) {
  return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(samples.taken))
      .load(std::memory_order_acquire);
}

// The samples that are kept.
struct Kept {
  std::array<float, kSamplesKept> us = {};
  size_t count;

  explicit Kept(const Samples& samples) : count(std::min<uint64_t>(taken(samples), kSamplesKept)) {
    for (size_t i = 0; i < count; ++i)
      us[i] =
          std::atomic_ref<float>(const_cast<float&>(samples.us[i])).load(std::memory_order_relaxed);
  }
};

}  // namespace

bool is_slower_here(const Samples& own, const Samples& cublas) {
  if (taken(own) < kEnough || taken(cublas) < kEnough) return false;
  const Kept ours(own);
  const Kept theirs(cublas);
  double slower = 0;  // of all pairs of one sample each
  for (size_t i = 0; i < ours.count; ++i) {
    for (size_t j = 0; j < theirs.count; ++j) {
      const float limit = kMargin * theirs.us[j];
      slower += ours.us[i] > limit ? 1 : ours.us[i] == limit ? 0.5 : 0;
    }
  }
  const auto n = static_cast<double>(ours.count);
  const auto m = static_cast<double>(theirs.count);
  return slower - n * m / 2 >= kDeviations * std::sqrt(n * m * (n + m + 1) / 12);
}

}  // namespace gemmtune::cublas_preload
