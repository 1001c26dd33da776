#include <csignal>
#include <cstdio>
#include <exception>

#include "cli/common/exit_code.h"
#include "cli/program.h"

namespace {

// A file that may grow no further (ulimit -f) is an error like a full disk: without a handler, the
// signal ends the process. Programs that are started find the signal as it was.
void outlive_size_limits() {
  struct sigaction action {};
  if (::sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  outlive_size_limits();
  try {
    return gemmtune::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gemm-tune: %s\n", error.what());
    return gemmtune::cli::kFailed;
  }
}
