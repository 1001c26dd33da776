#include "core/content_hash.h"

// Compiled in here, under names of this file only.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gemmtune {

ContentHash& ContentHash::add(uint64_t number) {
  content_.number(number);
  return *this;
}

ContentHash& ContentHash::add(std::string_view text) {
  add(uint64_t{text.size()});
  content_.raw(text);
  return *this;
}

std::string ContentHash::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string_view content = content_.written();
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(content.data(), content.size()));
  std::string text;
  for (const unsigned char byte : hash.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace gemmtune
