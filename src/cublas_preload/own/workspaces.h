#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "cublas_preload/own/run_driver.h"

namespace gemmtune::cublas_preload {

// Device memory for partial sums and copied operands of own kernels, in one context. Work that may
// run at the same time never shares any: each stream has its own, and so has each stream of each
// capture, because a graph may run beside whatever follows on the stream that it was captured from.
// Nothing is freed: kernels and graphs may use it at any time. Thread-safe.
class Workspaces {
 public:
  struct Limits {
    size_t of_one = size_t{1} << 29;
    size_t together = size_t{3} << 28;

    // Of a GPU with so many bytes: large ones give an 80th of them to one, up to 1 GiB, which
    // operands as sums of planes want.
    static Limits of_device(size_t bytes);
  };
  // Of one under capture, where two are set aside.
  static constexpr size_t kMostOfCapture = size_t{1} << 26;
  static constexpr size_t kLeastBytes = size_t{1} << 20;  // of each
  static constexpr size_t kAlign = 256;

  Workspaces(const RunDriver& driver, const Limits& limits) : driver_(driver), limits_(limits) {}

  const Limits& limits() const { return limits_; }

  // At least `bytes` for a product on a stream outside of captures; allocates if need be. Null if
  // there is no memory.
  void* for_stream(CUstream stream, size_t bytes);

  // The same under capture, from what prepare_captures() has set aside: nothing is allocated.
  void* for_capture(CUstream stream, size_t bytes);

  // Sets memory aside for captures to come, where there is less than for two of `bytes`, if that is
  // not above kMostOfCapture. Not under capture.
  void prepare_captures(size_t bytes);

 private:
  struct Block {
    unsigned long long stream = 0;  // its id; of a capture its handle
    cuuint64_t capture = 0;         // 0: outside of captures
    bool taken = false;
    void* memory = nullptr;
    size_t bytes = 0;
  };

  Block* allocate(size_t bytes);
  void* find(unsigned long long stream, cuuint64_t capture, size_t bytes) const;

  RunDriver driver_;
  Limits limits_;
  std::mutex mutex_;  // of all below
  std::vector<Block> blocks_;
  size_t total_bytes_ = 0;
};

}  // namespace gemmtune::cublas_preload
