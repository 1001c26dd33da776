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
  // `name` is the problem's. `to` is not owned. With `answers` the first prediction of a session
  // without a device has a line of its own.
  ProgressDisplay(std::FILE* to, bool terminal, std::string name, double flops,
                  bool answers = false);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(const tuner::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string describe(const tuner::Progress& progress) const;
  void show_first_answer(const tuner::Progress& progress);
  double seconds() const;

  std::FILE* to_;
  bool terminal_;
  std::string name_;
  double flops_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
  tuner::Progress::Phase last_phase_ = tuner::Progress::Phase::vendor;
  bool drawn_ = false;
  bool answers_;  // still to come
};

}  // namespace gemmtune::cli
