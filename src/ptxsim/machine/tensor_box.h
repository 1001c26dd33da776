// The part of a tensor that one TMA instruction copies. Source: PTX ISA, "Tensors" and
// "cp.async.bulk.tensor"; CUDA driver API, cuTensorMapEncodeTiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim {

// A box at some coordinates of a tensor, or (dimensions == 0) plain bytes.
struct TensorBox {
  uint64_t address = 0;  // generic, of the tensor's element 0
  uint32_t dimensions = 0;
  uint32_t element_bytes = 1;
  std::array<uint64_t, 5> extent = {};     // elements
  std::array<uint64_t, 5> stride = {};     // bytes; of dimension 0: element_bytes
  std::array<uint32_t, 5> box = {};        // elements
  std::array<int32_t, 5> coordinate = {};  // may be negative, or beyond the extent
  uint32_t swizzle_bytes = 0;              // 0, 32, 64, 128
  bool rounds_to_tf32 = false;             // f32, on the way to shared memory

  uint32_t row_bytes() const { return box[0] * element_bytes; }
  uint32_t rows() const { return box[1] * box[2] * box[3] * box[4]; }
  uint32_t bytes() const { return row_bytes() * rows(); }
};

// What is wrong with a map that an instruction for `dimensions` uses; empty: nothing.
std::string fault_of(const TensorMap& map, uint32_t dimensions);
// The same of a box: where it begins along the contiguous dimension. An H100 ends a kernel whose
// box begins at bytes that 16 does not divide (error 715), though the map is legal.
std::string fault_of(const TensorBox& box);
// Of a map without a fault.
TensorBox box_of(const TensorMap& map, const std::array<int32_t, 5>& coordinate);

// One row of a box: `bytes` in the tensor at `address` are bytes [begin, begin + bytes) of the
// row; the others lie outside.
struct BoxRow {
  uint64_t address = 0;
  uint32_t begin = 0;
  uint32_t bytes = 0;
};
BoxRow row_of(const TensorBox& box, uint32_t row);

// Where a byte of the box goes, from the address where the box begins: swizzling exchanges 16-byte
// chunks by bits of the absolute shared address.
inline uint32_t swizzled(uint32_t address, uint32_t swizzle_bytes) {
  // 128: bits 4-6 ^= 7-9; 64: 4-5 ^= 7-8; 32: 4 ^= 7
  const uint32_t mask = swizzle_bytes == 0 ? 0 : swizzle_bytes / 16 - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

// Bytes of shared memory that a box takes, all that swizzling may touch.
uint64_t footprint(const TensorBox& box);

}  // namespace gemmtune::ptxsim
