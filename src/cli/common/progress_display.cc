#include "cli/common/progress_display.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/record_facts.h"
#include "cli/common/print.h"
#include "core/seconds_since.h"
#include "core/tile_config.h"

namespace gemmtune::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kNextLine = std::chrono::seconds(2);
constexpr int kBarWidth = 24;

std::string_view phase_name(tuner::Progress::Phase phase) {
  switch (phase) {
    case tuner::Progress::Phase::vendor:
      return "starting";  // with the vendor's algorithms, where there is a device
    case tuner::Progress::Phase::search:
      return "searching";
    case tuner::Progress::Phase::finals:
      return "comparing the best";
  }
  return "";
}

// "strategy tile_m=128 ..." as tables show it.
std::string readable(const std::string& candidate) {
  const size_t blank = candidate.find(' ');
  if (blank == std::string::npos) return candidate;
  const auto tile = parse_tile(candidate.substr(blank + 1));
  return tile ? app::config_text(candidate.substr(0, blank), *tile) : candidate;
}

}  // namespace

ProgressDisplay::ProgressDisplay(std::FILE* to, bool terminal, std::string name, double flops,
                                 bool answers)
    : to_(to), terminal_(terminal), name_(std::move(name)), flops_(flops), answers_(answers) {}

ProgressDisplay::~ProgressDisplay() {
  if (terminal_ && drawn_) tell("\r\033[K", to_);
}

double ProgressDisplay::seconds() const {
  return seconds_since(start_);
}

// A prediction is an answer as soon as it is there; a first measurement is not.
void ProgressDisplay::show_first_answer(const tuner::Progress& progress) {
  answers_ = false;
  tell(fmt::format("{}{}: first answer after {:.1f} s: {}, {:.2f} TFLOP/s\n",
                   terminal_ ? "\r\033[K" : "", name_, seconds(), readable(progress.best),
                   flops_ / progress.best_us * 1e-6),
       to_);
}

std::string ProgressDisplay::describe(const tuner::Progress& progress) const {
  std::string text = fmt::format("{}/{} {}, {:.0f} s", progress.done, progress.total,
                                 phase_name(progress.phase), seconds());
  const auto tflops = [this](double us) { return flops_ / us * 1e-6; };
  if (progress.best_us > 0) text += fmt::format(", best {:.2f} TFLOP/s", tflops(progress.best_us));
  if (progress.vendor_best_us > 0)
    text += fmt::format(", cuBLASLt {:.2f}", tflops(progress.vendor_best_us));
  return text;
}

void ProgressDisplay::update(const tuner::Progress& progress) {
  if (progress.predicted && progress.best_us > 0 && answers_) show_first_answer(progress);
  const auto now = Clock::now();
  const bool same_phase = drawn_ && progress.phase == last_phase_;
  // A phase ends quickly on a small problem, so only the bar shows each change at once.
  if (terminal_ ? same_phase && now - last_ < kRedraw : drawn_ && now - last_ < kNextLine) return;
  last_ = now;
  last_phase_ = progress.phase;
  drawn_ = true;
  if (!terminal_) {
    tell(fmt::format("{}: {}\n", name_, describe(progress)), to_);
  } else {
    const double share =
        progress.total > 0 ? static_cast<double>(progress.done) / progress.total : 0;
    const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * kBarWidth);
    tell(fmt::format("\r\033[K[{}{}] {}", std::string(static_cast<size_t>(filled), '#'),
                     std::string(static_cast<size_t>(kBarWidth - filled), '.'), describe(progress)),
         to_);
  }
}

}  // namespace gemmtune::cli
