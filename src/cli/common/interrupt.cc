#include "cli/common/interrupt.h"

namespace gemmtune::cli {
namespace {

// A signal handler can reach nothing but static storage.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int /*signal*/) {
  interrupted.store(true);
}

}  // namespace

InterruptFlag::InterruptFlag() {
  interrupted.store(false);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  // Back to the default after the first: the second ends the process.
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigemptyset(&ignored.sa_mask);
  sigaction(SIGPIPE, &ignored, &pipe_before_);
}

InterruptFlag::~InterruptFlag() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
}

const std::atomic<bool>& InterruptFlag::flag() const {
  return interrupted;
}

}  // namespace gemmtune::cli
