#include "cli/tune/tune_display.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/print.h"
#include "cli/tune/tune_text.h"

namespace gemmtune::cli {
namespace {

constexpr auto kTuneRedraw = std::chrono::milliseconds(100);
constexpr size_t kTuneBarWidth = 24;

}  // namespace

tuner::ProgressFunction TuneDisplay::begin(const app::WantedProblem& wanted,
                                           const app::TunePlace& place) {
  place_ = place;
  const int device = place.device.value_or(0);
  if (place.device && terminal_) {
    return [this, device](const tuner::Progress& progress) {
      states_[device] = fmt::format("{}/{}", progress.done, progress.total);
      redraw();
    };
  }
  std::string name = place_text(place) + wanted.text;
  if (place.device) name += fmt::format(" on device {}", device);
  auto display = std::make_shared<ProgressDisplay>(to_, terminal_, std::move(name),
                                                   flops(wanted.problem), true);
  displays_[device] = display;
  return [display](const tuner::Progress& progress) { display->update(progress); };
}

void TuneDisplay::end(const app::TunedProblem& tuned) {
  ++ended_;
  const int device = place_.device && tuned.device ? tuned.device->ordinal : 0;
  displays_.erase(device);
  states_.erase(device);
  clear_bar();
}

void TuneDisplay::clear() {
  displays_.clear();
  clear_bar();
}

void TuneDisplay::clear_bar() {
  if (drawn_) tell("\r\033[K", to_);
  drawn_ = false;
}

void TuneDisplay::redraw() {
  const auto now = Clock::now();
  if (drawn_ && now - last_ < kTuneRedraw) return;
  last_ = now;
  drawn_ = true;
  const size_t filled =
      std::min(kTuneBarWidth, kTuneBarWidth * ended_ / std::max<size_t>(1, place_.count));
  std::string text = fmt::format("[{}{}] {}", std::string(filled, '#'),
                                 std::string(kTuneBarWidth - filled, '.'), place_text(place_));
  std::string separator;
  for (const auto& [device, state] : states_) {
    text += fmt::format("{}device {}: {}", separator, device, state);
    separator = ", ";
  }
  tell("\r\033[K" + text, to_);
}

}  // namespace gemmtune::cli
