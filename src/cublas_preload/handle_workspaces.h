#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// The workspaces that programs gave their handles, which is what cuBLAS is not asked for. Only a
// capture records them. Thread-safe.
class HandleWorkspaces {
 public:
  void set(const void* handle, size_t bytes) {
    const std::lock_guard lock(changing_);
    // A program that makes and destroys handles without end and takes care of none.
    if (bytes_.size() >= kMost && !bytes_.contains(handle)) return;
    bytes_[handle] = static_cast<int64_t>(bytes);
  }
  // The handle goes back to its own.
  void reset(const void* handle) {
    const std::lock_guard lock(changing_);
    bytes_.erase(handle);
  }
  // Product::kOwnWorkspace of a handle that was given none.
  int64_t of(const void* handle) const {
    const std::lock_guard lock(changing_);
    const auto found = bytes_.find(handle);
    return found == bytes_.end() ? Product::kOwnWorkspace : found->second;
  }

 private:
  static constexpr size_t kMost = 4096;

  mutable std::mutex changing_;
  std::unordered_map<const void*, int64_t> bytes_;
};

}  // namespace gemmtune::cublas_preload
