#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "core/problem.h"

namespace gemmtune::dispatch {

// What identifies the usual problem: one f32 product (math ieee) of densely packed matrices with a
// row-major C and without an epilogue. Inline, as it is on the way of every call.
struct PackedProblem {
  uint32_t m = 0;
  uint32_t n = 0;
  uint32_t k = 0;
  Order order_a = Order::row_major;
  Order order_b = Order::row_major;
  uint32_t align_bytes = kUsualAlignBytes;  // an alignment class
};

// The short form of a comparable() problem; nothing for one that is not usual.
std::optional<PackedProblem> packed(const Problem& problem);

// The product of two words, its halves folded together: every bit of it depends on both.
inline uint64_t fold(uint64_t a, uint64_t b) {
  __extension__ using Word = unsigned __int128;
  const Word product = Word{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd words without pattern.
inline constexpr uint64_t kSeedA = 0x9e3779b97f4a7c15;
inline constexpr uint64_t kSeedB = 0xd1b54a32d192ed03;

// Layouts and alignment in a word that is never 0: bits 12, 13, 16 to 19 and 31.
inline uint32_t bits_of(Order a, Order b, uint32_t align_bytes) {
  constexpr uint32_t kUsed = 1U << 31;
  const auto bit = [](Order order) { return order == Order::row_major ? 0U : 1U; };
  return kUsed | bit(a) << 12 | bit(b) << 13 |
         static_cast<uint32_t>(std::countr_zero(align_bytes)) << 16;
}

// What a table holds of a packed problem besides its shape.
inline uint32_t kind_of(const PackedProblem& p) {
  return bits_of(p.order_a, p.order_b, p.align_bytes);
}

inline uint64_t hash_of(const PackedProblem& p, uint32_t kind) {
  return fold((uint64_t{p.m} << 32 | p.n) ^ kSeedA, (uint64_t{p.k} << 32 | kind) ^ kSeedB);
}

}  // namespace gemmtune::dispatch
