#pragma once

#include <string>
#include <vector>

#include "app/common/child_process.h"
#include "app/tune/devices/line_channel.h"
#include "core/error.h"

namespace gemmtune::app {

// A process that tunes on one device, as the one that started it sees it. It is killed with the
// object, if it still runs.
class WorkerProcess {
 public:
  // As ChildProcess::start(), with a channel of lines.
  static Expected<WorkerProcess> start(const std::string& path, std::vector<std::string> arguments);

  LineChannel& channel() { return channel_; }
  const LineChannel& channel() const { return channel_; }

  // Asks it to end what it is at with what it found so far.
  void interrupt() const { process_.interrupt(); }

  // Has a process end that waits for work, and waits for that.
  void finish();

  // As ChildProcess::wait(): how it ended.
  std::string wait() { return process_.wait().how; }

 private:
  explicit WorkerProcess(ChildProcess::Started started)
      : process_(std::move(started.process)), channel_(std::move(started.channel)) {}

  ChildProcess process_;
  LineChannel channel_;
};

}  // namespace gemmtune::app
