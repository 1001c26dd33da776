#pragma once

#include <cstddef>
#include <cstdint>

#include "cublas_preload/code_lines.h"

namespace gemmtune::cublas_preload {

// Memory of descriptors of cuBLASLt that is hashed.
struct HashedDescriptors {
  static constexpr size_t kLayoutBytes = 56;
  // Addresses in an operation that are left out, 8 bytes each: the bias's and, but for whether they
  // are null, those of both scales, one behind the other.
  static constexpr size_t kBias = 40;
  static constexpr size_t kScales = 104;
  static constexpr size_t kLeast = 136;  // bytes of an operation

  const void* operation;
  size_t operation_bytes;  // a multiple of 8
  const void* a;
  const void* b;
  const void* c;
  const void* d;
};

// 64 bits, the same only within a process. By AES rounds where the processor has them, which take
// two instructions for 16 bytes, else by multiplications.
GEMMTUNE_CODE_OF_MATMUL uint64_t hash_of(const HashedDescriptors& descriptors);

// By multiplications.
uint64_t hash_by_multiplying(const HashedDescriptors& descriptors);

}  // namespace gemmtune::cublas_preload
