#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace gemmtune::ptxsim {

// An array of zeros that takes memory only where it is touched: what shared memory keeps by byte
// and warp of a cluster would be hundreds of megabytes, of which kernels use a few.
template <class T>
class ZeroArray {
 public:
  ZeroArray() = default;
  explicit ZeroArray(size_t count) : bytes_(count * sizeof(T)) {
    if (count == 0) return;
    void* pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<T*>(pages);
  }
  ZeroArray(ZeroArray&& other) noexcept
      : values_(std::exchange(other.values_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ZeroArray& operator=(ZeroArray&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroArray() {
    if (values_ != nullptr) munmap(values_, bytes_);
  }

  T& operator[](size_t index) { return values_[index]; }
  const T& operator[](size_t index) const { return values_[index]; }

 private:
  T* values_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace gemmtune::ptxsim
