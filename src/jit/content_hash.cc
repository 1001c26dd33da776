#include "jit/content_hash.h"

#include <fmt/format.h>

namespace gemmtune::jit {

void ContentHash::mix(unsigned char byte) {
  constexpr Word kPrime = (Word{0x0000000001000000} << 64) | 0x000000000000013b;
  state_ = (state_ ^ byte) * kPrime;
}

ContentHash& ContentHash::add(uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) mix(static_cast<unsigned char>(number >> shift));
  return *this;
}

ContentHash& ContentHash::add(std::string_view text) {
  add(uint64_t{text.size()});
  for (const char c : text) mix(static_cast<unsigned char>(c));
  return *this;
}

std::string ContentHash::hex() const {
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(state_ >> 64),
                     static_cast<uint64_t>(state_));
}

uint64_t checksum(std::string_view bytes) {
  uint64_t state = 0xcbf29ce484222325;
  for (const char c : bytes) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return state;
}

}  // namespace gemmtune::jit
