#include "cublas_preload/descriptor_hash.h"

#include "cublas_preload/call_hash.h"
#include "cublas_preload/code_lines.h"

#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

namespace gemmtune::cublas_preload {
namespace {

constexpr size_t kBlock = 16;
constexpr size_t kBehindBias = HashedDescriptors::kBias + sizeof(uint64_t);
constexpr size_t kBehindScales = HashedDescriptors::kScales + 2 * sizeof(uint64_t);
static_assert(kBehindScales + kBlock <= HashedDescriptors::kLeast);

// Part of the code of each hash, which lies where it is fetched.
[[gnu::always_inline]] inline uint64_t which_scales(const unsigned char* operation) {
  const auto is_there = [operation](size_t number) {
    return uint64_t{word_of(operation + HashedDescriptors::kScales, number) != 0};
  };
  return is_there(0) | is_there(1) << 1;
}

const unsigned char* bytes_of(const void* memory) {
  return static_cast<const unsigned char*>(memory);
}

uint64_t multiplied_layout(uint64_t hash, const void* layout) {
  return mixed_words<HashedDescriptors::kLayoutBytes / sizeof(uint64_t)>(hash, layout);
}

#if defined(__x86_64__)

// A number that is part of the code, and not of a line of data.
[[gnu::always_inline]] inline int64_t in_register(int64_t number) {
  __asm__("" : "+r"(number));
  return number;
}

// Lanes of their own for the operation and for two layouts each, since a round waits for the one
// before it. A round does to each column what it does to the others: they begin with different
// ones.
GEMMTUNE_CODE_OF_MATMUL [[gnu::target("aes")]] uint64_t hash_by_aes(const HashedDescriptors& of) {
  const auto block = [](const unsigned char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const __m128i begin = _mm_set_epi64x(in_register(0x243F6A8885A308D3),  // pi
                                       in_register(0x13198A2E03707344));
  const unsigned char* const operation = bytes_of(of.operation);
  __m128i x = _mm_aesenc_si128(begin, block(operation));
  x = _mm_aesenc_si128(x, block(operation + kBlock));
  x = _mm_aesenc_si128(x,
                       _mm_loadl_epi64(reinterpret_cast<const __m128i*>(operation + 2 * kBlock)));
  size_t at = kBehindBias;
  for (; at + kBlock <= HashedDescriptors::kScales; at += kBlock)
    x = _mm_aesenc_si128(x, block(operation + at));
  x = _mm_aesenc_si128(
      x, _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(operation + at)),
                            _mm_cvtsi64_si128(static_cast<int64_t>(which_scales(operation)))));
  for (at = kBehindScales; at + kBlock <= of.operation_bytes; at += kBlock)
    x = _mm_aesenc_si128(x, block(operation + at));
  x = _mm_aesenc_si128(x, block(operation + of.operation_bytes - kBlock));
  // The last 16 of a layout's 56 bytes overlap those before.
  constexpr size_t kOffsets[] = {kBlock, 2 * kBlock, HashedDescriptors::kLayoutBytes - kBlock};
  const unsigned char* const a = bytes_of(of.a);
  const unsigned char* const b = bytes_of(of.b);
  const unsigned char* const c = bytes_of(of.c);
  const unsigned char* const d = bytes_of(of.d);
  __m128i y = _mm_aesenc_si128(begin, block(a));
  __m128i z = _mm_aesenc_si128(begin, block(c));
  for (const size_t offset : kOffsets) {
    y = _mm_aesenc_si128(y, block(a + offset));
    z = _mm_aesenc_si128(z, block(c + offset));
  }
  y = _mm_aesenc_si128(y, block(b));
  for (const size_t offset : kOffsets) y = _mm_aesenc_si128(y, block(b + offset));
  if (c != d) {
    z = _mm_aesenc_si128(z, block(d));
    for (const size_t offset : kOffsets) z = _mm_aesenc_si128(z, block(d + offset));
  }
  x = _mm_aesenc_si128(_mm_aesenc_si128(x, y), z);
  x = _mm_aesenc_si128(x, begin);
  x = _mm_aesenc_si128(x, begin);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(x));
}

struct Processor {
  GEMMTUNE_STATE_OF_CALLS static const bool kHasAes;
};
const bool Processor::kHasAes = __builtin_cpu_supports("aes") != 0;

#endif

}  // namespace

uint64_t hash_by_multiplying(const HashedDescriptors& of) {
  const unsigned char* const operation = bytes_of(of.operation);
  uint64_t hash = mixed_words<HashedDescriptors::kBias / sizeof(uint64_t)>(0, operation);
  hash = mixed_words<(HashedDescriptors::kScales - kBehindBias) / sizeof(uint64_t)>(
      hash, operation + kBehindBias);
  hash = mixed(hash, which_scales(operation));
  for (size_t at = kBehindScales; at < of.operation_bytes; at += sizeof(uint64_t))
    hash = mixed(hash, word_of(operation + at, 0));
  hash = multiplied_layout(hash, of.a);
  hash = multiplied_layout(hash, of.b);
  hash = multiplied_layout(hash, of.c);
  return of.c == of.d ? hash : multiplied_layout(hash, of.d);
}

uint64_t hash_of(const HashedDescriptors& descriptors) {
#if defined(__x86_64__)
  if (Processor::kHasAes) [[likely]]
    return hash_by_aes(descriptors);
#endif
  return hash_by_multiplying(descriptors);
}

}  // namespace gemmtune::cublas_preload
