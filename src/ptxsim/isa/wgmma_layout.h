// Matrices of wgmma in shared memory. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared
// Memory Layout", "Matrix Descriptor Format".
//
// A matrix of mn x k elements (mn: rows of A, columns of B; k: 32 bytes of elements) is made of
// chunks of 16 bytes. Let leading and stride be the descriptor's two offsets.
//
// K-major: a chunk holds consecutive k of one mn; c is its number, 0 or 1.
//   not swizzled  chunk (mn, c) at (mn / 8) stride + (mn % 8) 16 + c leading
//   S bytes       chunk (mn, c) at (mn / 8) stride + (mn % 8) S + c 16
// MN-major, of 16-bit elements only: a chunk holds 8 consecutive mn of one k; c is its number.
//   not swizzled  chunk (k, c) at (k / 8) leading + (k % 8) 16 + c stride
//   S bytes       chunk (k, c) at (k / 8) stride + (k % 8) S + (c % (S/16)) 16 + (c / (S/16))
//   leading
//
// Where the layout is swizzled, bits of the absolute address are exchanged as TMA does.
#pragma once

#include <cstdint>
#include <span>

namespace gemmtune::ptxsim {

struct WgmmaDescriptor {
  uint32_t address = 0;  // shared, absolute
  uint32_t leading = 0;  // bytes
  uint32_t stride = 0;
  uint32_t base_offset = 0;
  uint32_t swizzle_bytes = 0;  // 0, 32, 64, 128
};

WgmmaDescriptor unpack_descriptor(uint64_t bits);

// The part of a matrix from mn = first on.
struct WgmmaPanel {
  WgmmaDescriptor descriptor;
  bool mn_major = false;
  uint32_t element_bytes = 2;
  uint32_t first = 0;
  uint32_t count = 0;  // a multiple of 8

  uint32_t k() const { return 32 / element_bytes; }
  uint32_t chunks() const { return mn_major ? k() * count / 8 : count * 2; }
};

inline constexpr uint32_t kMostPanelChunks = 512;

// Absolute addresses of the panel's chunks: K-major by mn, then c; MN-major by k, then c.
void chunk_addresses(const WgmmaPanel& panel, std::span<uint32_t> out);

}  // namespace gemmtune::ptxsim
