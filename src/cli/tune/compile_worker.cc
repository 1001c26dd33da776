#include "cli/tune/compile_worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <tuple>

#include "app/compile/compile_server.h"
#include "cli/common/exit_code.h"

namespace gemmtune::cli {
namespace {

// Added to the command's own: what measures goes first.
constexpr int kNiceness = 10;

}  // namespace

int compile_worker() {
  // Else it is that of the link by which the program was found.
  ::prctl(PR_SET_NAME, "gemm-tune");
  std::ignore = ::nice(kNiceness);
  // These reach every process of a terminal or a job. The command decides, and closes the channel.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  app::serve_compiling(Descriptor(STDIN_FILENO), app::load_compile_function);
  return kDone;
}

}  // namespace gemmtune::cli
