#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// Which algorithms cuBLASLt's heuristic named first, and for which products. Keeps the last few
// thousand. Thread-safe; takes no lock and allocates nothing.
class FirstChoices {
 public:
  // `product` is of any operands, workspace and beta.
  void add(const Product& product, const lt::Algorithm& algorithm);
  bool contains(const Product& product, const lt::Algorithm& algorithm) const;

 private:
  static constexpr size_t kSlots = 8192;
  static constexpr size_t kProbes = 8;

  std::array<std::atomic<uint64_t>, kSlots> slots_ = {};  // hashes; 0: free
};

}  // namespace gemmtune::cublas_preload
