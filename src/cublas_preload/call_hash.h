#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cublas_preload/product.h"

// Hashes of calls, by which those are known that are handed on (HandedOn). The same only within a
// process.
namespace gemmtune::cublas_preload {

// By a multiplication whose halves are folded into one another, as wyhash does it (Wang Yi,
// https://github.com/wangyi-fudan/wyhash).
inline uint64_t mixed(uint64_t hash, uint64_t first, uint64_t second = 0) {
  // Not each other's complements: their products hide which of the two a bit was changed in.
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15;
  constexpr uint64_t kSecond = 0xD6E8FEB86659FD93;
  const auto product = static_cast<unsigned __int128>(hash ^ first ^ kFirst) * (second ^ kSecond);
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

inline uint64_t word_of(const void* words, size_t number) {
  uint64_t word = 0;
  std::memcpy(&word, static_cast<const unsigned char*>(words) + number * sizeof(word),
              sizeof(word));
  return word;
}

// With words in memory, aligned or not. Their number is known beforehand, so that no loop is left.
template <size_t kWords>
uint64_t mixed_words(uint64_t hash, const void* words) {
  for (size_t i = 0; i < kWords; i += 2)
    hash = mixed(hash, word_of(words, i), i + 1 < kWords ? word_of(words, i + 1) : 0);
  return hash;
}

// What of a call's operands decides who computes it: the class of its alignment, from the bits of
// all matrices' addresses, and what beta is.
inline uint64_t operand_bits(uintptr_t addresses, Beta beta) {
  return static_cast<uint64_t>(alignment_of(addresses)) << 2 | static_cast<uint64_t>(beta);
}

}  // namespace gemmtune::cublas_preload
