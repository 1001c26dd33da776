#include "cublas_preload/own/first_choices.h"

#include <cstring>

namespace gemmtune::cublas_preload {
namespace {

template <class Value>
uint64_t mixed(uint64_t hash, const Value& value) {
  static_assert(sizeof(Value) % sizeof(uint64_t) == 0);
  uint64_t words[sizeof(Value) / sizeof(uint64_t)];
  std::memcpy(words, &value, sizeof(value));
  for (const uint64_t word : words) hash = ((hash ^ word) * 0x9E3779B97F4A7C15) ^ hash >> 29;
  return hash;
}

// Never 0.
uint64_t choice_hash(Product product, const lt::Algorithm& algorithm) {
  // What the heuristic is asked without.
  product.align_bytes = 0;
  product.workspace_bytes = 0;
  product.beta = Beta::zero;
  product.oddities &= ~static_cast<uint32_t>(Oddity::separate_c);
  return mixed(mixed(0xCBF29CE484222325, product), algorithm) | 1;
}

}  // namespace

void FirstChoices::add(const Product& product, const lt::Algorithm& algorithm) {
  const uint64_t hash = choice_hash(product, algorithm);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    std::atomic<uint64_t>& slot = slots_[((hash >> 32) + probe) % kSlots];
    uint64_t held = slot.load(std::memory_order_relaxed);
    if (held == hash) return;
    if (held == 0 && slot.compare_exchange_strong(held, hash, std::memory_order_relaxed)) return;
    if (held == hash) return;
  }
  slots_[((hash >> 32) + hash % kProbes) % kSlots].store(hash, std::memory_order_relaxed);
}

bool FirstChoices::contains(const Product& product, const lt::Algorithm& algorithm) const {
  const uint64_t hash = choice_hash(product, algorithm);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    if (slots_[((hash >> 32) + probe) % kSlots].load(std::memory_order_relaxed) == hash)
      return true;
  }
  return false;
}

}  // namespace gemmtune::cublas_preload
