#include "cublas_preload/own/first_choices.h"

#include "cublas_preload/product_hash.h"

namespace gemmtune::cublas_preload {
namespace {

// A hash with the answer in its last bit. Never 0.
uint64_t entry_of(Product product, const lt::Algorithm& algorithm, bool is_first) {
  // What the heuristic is asked without.
  product.align_bytes = 0;
  product.beta = Beta::zero;
  product.oddities &= ~static_cast<uint32_t>(Oddity::separate_c);
  return (product_hash(product, algorithm) | 3) - (is_first ? 0 : 1);
}

}  // namespace

void FirstChoices::note(const Product& product, const lt::Algorithm& algorithm, bool is_first) {
  const uint64_t entry = entry_of(product, algorithm, is_first);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    std::atomic<uint64_t>& slot = slots_[((entry >> 32) + probe) % kSlots];
    uint64_t held = slot.load(std::memory_order_relaxed);
    if (held == entry) return;
    if (held == 0 && slot.compare_exchange_strong(held, entry, std::memory_order_relaxed)) return;
    if (held == entry) return;
  }
  slots_[((entry >> 32) + entry / 4 % kProbes) % kSlots].store(entry, std::memory_order_relaxed);
}

std::optional<bool> FirstChoices::find(const Product& product,
                                       const lt::Algorithm& algorithm) const {
  const uint64_t first = entry_of(product, algorithm, true);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    const uint64_t held = slots_[((first >> 32) + probe) % kSlots].load(std::memory_order_relaxed);
    if ((held | 1) == first) return held == first;
  }
  return std::nullopt;
}

}  // namespace gemmtune::cublas_preload
