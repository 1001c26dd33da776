#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gemmtune::jit {

// 128-bit FNV-1a over a sequence of texts. Each is hashed with its size in front, so {"ab", "c"}
// and
// {"a", "bc"} differ. Not for input that someone may forge.
// Source: FNV by Fowler, Noll and Vo (RFC 9923), offset basis and prime for 128 bits.
class ContentHash {
 public:
  ContentHash& add(std::string_view text);
  ContentHash& add(uint64_t number);

  std::string hex() const;  // 32 lower-case digits

 private:
  void mix(unsigned char byte);

  __extension__ using Word = unsigned __int128;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

// 64-bit FNV-1a: the checksum of a cache file. Two texts of one length that differ in one byte
// never have the same value, as each step is a bijection of the state.
uint64_t checksum(std::string_view bytes);

}  // namespace gemmtune::jit
