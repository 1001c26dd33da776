#include "cublas_preload/call_hash.h"

namespace gemmtune::cublas_preload {

uint64_t mixed_words(uint64_t hash, const void* words, size_t first, size_t end) {
  for (size_t i = first; i < end; i += 2)
    hash = mixed(hash, word_of(words, i), i + 1 < end ? word_of(words, i + 1) : 0);
  return hash;
}

}  // namespace gemmtune::cublas_preload
