#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "app/tune/tune.h"
#include "cli/common/progress_display.h"

namespace gemmtune::cli {

// Shows the progress of the problems in work: on one device, or without one, as ProgressDisplay
// does. For several devices a terminal has one bar, of all problems; elsewhere each problem has
// lines, which name its device. Not thread-safe.
class TuneDisplay {
 public:
  // `to` is not owned.
  TuneDisplay(std::FILE* to, bool terminal) : to_(to), terminal_(terminal) {}
  ~TuneDisplay() { clear(); }
  TuneDisplay(const TuneDisplay&) = delete;
  TuneDisplay& operator=(const TuneDisplay&) = delete;

  // A problem begins; what is returned is told its progress, and is valid as long as this object.
  tuner::ProgressFunction begin(const app::WantedProblem& wanted, const app::TunePlace& place);
  // It has ended. Its bar is removed, so that what was found can be printed.
  void end(const app::TunedProblem& tuned);

  // Removes what is drawn.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void redraw();
  void clear_bar();

  std::FILE* to_;
  bool terminal_;
  std::map<int, std::shared_ptr<ProgressDisplay>> displays_;  // by device, 0 where there is one
  app::TunePlace place_;                                      // of the problem that began last
  // Of the bar of several devices.
  std::map<int, std::string> states_;  // of devices
  size_t ended_ = 0;
  Clock::time_point last_{};
  bool drawn_ = false;
};

}  // namespace gemmtune::cli
