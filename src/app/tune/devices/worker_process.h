#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "app/tune/devices/line_channel.h"
#include "core/error.h"

namespace gemmtune::app {

// A process that tunes on one device, as the one that started it sees it. It is killed with the
// object, if it still runs.
class WorkerProcess {
 public:
  // Starts the program at `path` with the other end of the channel as its stdin. `arguments` begin
  // with its name. What it prints goes to stderr.
  static Expected<WorkerProcess> start(const std::string& path, std::vector<std::string> arguments);
  ~WorkerProcess();
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) = delete;

  LineChannel& channel() { return channel_; }
  const LineChannel& channel() const { return channel_; }

  // Asks it to end what it is at with what it found so far.
  void interrupt() const;

  // Has a process end that waits for work, and waits for that.
  void finish();

  // Waits for the end of a process that has closed its channel, or crashed: how it ended, "exit
  // code 1" or "signal 9 (Killed)".
  std::string wait();

 private:
  WorkerProcess(pid_t process, LineChannel channel)
      : process_(process), channel_(std::move(channel)) {}

  pid_t process_;
  LineChannel channel_;
};

}  // namespace gemmtune::app
