#pragma once

#include <atomic>
#include <functional>

#include "app/common/context.h"
#include "app/tune/devices/worker_messages.h"

namespace gemmtune::app {

// What a process does that was started to tune on one device: reads its setup and then problems
// from stdin, tunes each, and answers there. `make_context` is called once. After `stop` was set,
// ends the search it is at with what it found. Returns when the command that started it closes the
// channel, or nothing more can be done here. The process is killed with that command.
void serve_tuning(const std::function<Context(const WorkerSetup&)>& make_context,
                  const std::atomic<bool>& stop);

}  // namespace gemmtune::app
