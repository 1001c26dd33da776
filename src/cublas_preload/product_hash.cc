#include "cublas_preload/product_hash.h"

#include <type_traits>

// Compiled in here, under names of this file only.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gemmtune::cublas_preload {

uint64_t product_hash(const Product& product) {
  return XXH3_64bits(&product, sizeof(product));
}

uint64_t product_hash(const Product& product, const lt::Algorithm& algorithm) {
  static_assert(std::has_unique_object_representations_v<lt::Algorithm>);
  return XXH3_64bits_withSeed(&algorithm, sizeof(algorithm), product_hash(product));
}

}  // namespace gemmtune::cublas_preload
