// Reads of shared memory by the async proxy (wgmma, TMA stores) that begin with an instruction of
// a warp and are over when that warp has waited for them.
#pragma once

#include <cstdint>
#include <vector>

namespace gemmtune::ptxsim {

struct AsyncRead {
  uint32_t warp = 0;         // of the cluster
  uint32_t instruction = 0;  // index in the program
  uint32_t over_at = 0;      // of the warp's clock; 0: not yet
};

// A cluster's, numbered from 1 on; numbers go on when a new cluster starts, so that those which
// shared memory still holds are known to be old.
class AsyncReads {
 public:
  void restart() {
    first_ += static_cast<uint32_t>(reads_.size());
    reads_.clear();
  }
  uint32_t begin(uint32_t warp, uint32_t instruction) {
    reads_.push_back({warp, instruction, 0});
    return first_ + static_cast<uint32_t>(reads_.size()) - 1;
  }
  void end(uint32_t read, uint32_t now) { reads_[read - first_].over_at = now; }
  // Null for one of an earlier cluster.
  const AsyncRead* find(uint32_t read) const {
    return read < first_ ? nullptr : &reads_[read - first_];
  }

 private:
  uint32_t first_ = 1;
  std::vector<AsyncRead> reads_;
};

}  // namespace gemmtune::ptxsim
