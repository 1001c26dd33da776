#pragma once

#include <cstddef>
#include <optional>

namespace gemmtune::app {

// How far a command is among its problems.
struct TunePlace {
  size_t number = 1;  // of the problem that begins
  size_t count = 1;
  std::optional<double> seconds_left;  // if the others take as long as those before; none at first
  std::optional<int> device;           // ordinal, where several tune
};

// Tells where a command is among its problems.
class ProblemClock {
 public:
  ProblemClock(size_t problems, size_t devices) : count_(problems), devices_(devices) {}

  // Of the problem that begins.
  TunePlace begin() { return place(++begun_); }
  // Of one that begins again, which had that number.
  TunePlace begin_again(size_t number) const { return place(number); }

  // To be called when a problem has ended, after so long.
  void end(double seconds) {
    ++ended_;
    seconds_ += seconds;
  }

  double seconds_left() const {
    const auto left = static_cast<double>(count_ - ended_) / static_cast<double>(devices_);
    return ended_ == 0 ? 0 : seconds_ / static_cast<double>(ended_) * left;
  }
  size_t ended() const { return ended_; }

 private:
  TunePlace place(size_t number) const {
    TunePlace place{number, count_, std::nullopt, std::nullopt};
    if (ended_ > 0) place.seconds_left = seconds_left();
    return place;
  }

  size_t count_;
  size_t devices_;
  size_t begun_ = 0;
  size_t ended_ = 0;
  double seconds_ = 0;  // of those that ended
};

}  // namespace gemmtune::app
