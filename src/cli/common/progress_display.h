#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "tuner/session/session.h"

namespace gemmtune::cli {

// Shows a session's progress: a bar that is redrawn on a terminal, else a line every two seconds at
// most. Not thread-safe.
class ProgressDisplay {
 public:
  // `name` is the problem's. `to` is not owned.
  ProgressDisplay(std::FILE* to, bool terminal, std::string name, double flops);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(const tuner::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string describe(const tuner::Progress& progress) const;

  std::FILE* to_;
  bool terminal_;
  std::string name_;
  double flops_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
  tuner::Progress::Phase last_phase_ = tuner::Progress::Phase::vendor;
  bool drawn_ = false;
};

}  // namespace gemmtune::cli
