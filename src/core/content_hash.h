#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes.h"

namespace gemmtune {

// XXH3, 128 bits, over a sequence of texts and numbers. Each text is hashed with its size in front,
// so {"ab", "c"} and {"a", "bc"} differ. The same on every machine, now and later: files and
// databases hold such hashes. Not for input that someone may forge.
// Source: xxHash by Yann Collet, https://xxhash.com.
class ContentHash {
 public:
  ContentHash& add(std::string_view text);
  ContentHash& add(uint64_t number);

  std::string hex() const;  // 32 lower-case digits

 private:
  ByteWriter content_;
};

// XXH3, 64 bits: the checksum of files.
uint64_t checksum(std::string_view bytes);

}  // namespace gemmtune
