#pragma once

#include <atomic>

namespace gemmtune::cli {

// While alive, the first SIGINT or SIGTERM sets a flag instead of ending the process; a second one
// of the same kind ends it as usual. One at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& flag() const;
};

}  // namespace gemmtune::cli
