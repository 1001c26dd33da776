#include "cli/common/interrupt.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace gemmtune::cli {
namespace {

constexpr int kAlive = 7;

// How a process ends that is signalled, and again after so long: kAlive, or by that signal.
int status_after(int first, std::chrono::milliseconds wait, int second) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const InterruptFlag interrupt;
    std::raise(first);
    if (!interrupt.flag()) std::_Exit(1);
    std::this_thread::sleep_for(wait);
    std::raise(second);
    std::_Exit(kAlive);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("a second interrupt ends the process, unless it comes with the first") {
  using std::chrono::milliseconds;
  for (const int number : {SIGINT, SIGTERM}) {
    CHECK(status_after(number, milliseconds(0), number) == kAlive);
    CHECK(status_after(number, milliseconds(150), number) == -number);
  }
  CHECK(status_after(SIGINT, milliseconds(0), SIGTERM) == kAlive);
  CHECK(status_after(SIGINT, milliseconds(150), SIGTERM) == -SIGTERM);
}

}  // namespace gemmtune::cli
