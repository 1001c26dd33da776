#pragma once

// How an access reads memory.

namespace gemmtune {

// What anybody may have written.
struct AsWritten {
  template <class T>
  static __device__ __forceinline__ T of(const T* from) {
    return *from;
  }
};

// What nobody writes while the kernel runs; it does not go through C's cache lines.
struct AsConstant {
  template <class T>
  static __device__ __forceinline__ T of(const T* from) {
    return __ldg(from);
  }
};

}  // namespace gemmtune
