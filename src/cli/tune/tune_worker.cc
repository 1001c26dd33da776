#include "cli/tune/tune_worker.h"

#include <sys/prctl.h>

#include <csignal>

#include "cli/common/exit_code.h"
#include "cli/common/interrupt.h"

namespace gemmtune::cli {

int tune_worker(const std::function<Context(const app::WorkerSetup&)>& make_context) {
  // Else it is that of the link by which the program was found.
  ::prctl(PR_SET_NAME, "gemm-tune");
  const InterruptFlag interrupt;
  // Ctrl-C reaches every process of the terminal; the command then asks its workers to end.
  std::signal(SIGINT, SIG_IGN);
  app::serve_tuning(make_context, interrupt.flag());
  return kDone;
}

}  // namespace gemmtune::cli
