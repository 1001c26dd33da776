#pragma once

#include <functional>

#include "app/tune/devices/worker.h"
#include "cli/common/command.h"

namespace gemmtune::cli {

// The first argument of a process that tunes on one of the devices of a command. It is for
// gemm-tune itself, so --help does not name it.
inline constexpr char kWorkerCommand[] = "tune-worker";

// What such a process does, and the exit code that it ends with.
int tune_worker(const std::function<Context(const app::WorkerSetup&)>& make_context);

}  // namespace gemmtune::cli
