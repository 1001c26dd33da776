#include "app/tune/devices/worker_process.h"

#include <utility>

namespace gemmtune::app {

Expected<WorkerProcess> WorkerProcess::start(const std::string& path,
                                             std::vector<std::string> arguments) {
  auto started = ChildProcess::start(path, std::move(arguments));
  if (!started) return tl::unexpected(started.error());
  return WorkerProcess(*std::move(started));
}

void WorkerProcess::finish() {
  channel_.close();
  wait();
}

}  // namespace gemmtune::app
