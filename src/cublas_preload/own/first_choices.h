#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// Which algorithms cuBLASLt's heuristic names first for a product, and which it does not. Keeps the
// last few thousand. Thread-safe; takes no lock and allocates nothing.
class FirstChoices {
 public:
  // `product` is of any alignment and beta.
  void note(const Product& product, const lt::Algorithm& algorithm, bool is_first);
  // Nothing where that is not known.
  std::optional<bool> find(const Product& product, const lt::Algorithm& algorithm) const;

 private:
  static constexpr size_t kSlots = 8192;
  static constexpr size_t kProbes = 8;

  std::array<std::atomic<uint64_t>, kSlots> slots_ = {};  // entries; 0: free
};

}  // namespace gemmtune::cublas_preload
