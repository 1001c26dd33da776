#pragma once

#include <atomic>
#include <csignal>

namespace gemmtune::cli {

// While alive, the first SIGINT or SIGTERM sets a flag instead of ending the process; a second one
// ends it as usual, unless it comes within 100 ms, as timeout(1) sends it. A pipe that nobody reads
// any more (`| head`) does not end the process either: writing to it fails. One at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& flag() const;

 private:
  struct sigaction pipe_before_ = {};
};

}  // namespace gemmtune::cli
