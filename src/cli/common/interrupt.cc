#include "cli/common/interrupt.h"

#include <cstdint>
#include <ctime>

namespace gemmtune::cli {
namespace {

// timeout(1) sends its signal to the program and at once to the program's process group.
constexpr int64_t kOneInterruptMs = 100;

// A signal handler can reach nothing but static storage.
std::atomic<bool> interrupted = false;
std::atomic<int64_t> interrupted_at_ms = 0;
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<int64_t>::is_always_lock_free);

int64_t monotonic_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void on_signal(int signal) {
  if (!interrupted.load()) {
    interrupted_at_ms.store(monotonic_ms());
    interrupted.store(true);
  } else if (monotonic_ms() - interrupted_at_ms.load() >= kOneInterruptMs) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

InterruptFlag::InterruptFlag() {
  interrupted.store(false);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  // One signal does not interrupt the other's handler.
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
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
