#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"

namespace gemmtune::app {

// How a process ended.
struct ProcessEnd {
  std::string how;  // "exit code 1" or "signal 9 (Killed)"
  // It exited, or crashed. Else it was killed: by somebody, or by the system, for want of memory.
  bool by_itself = false;
};

// A process that this one started, to work for it. It is killed with the object, if it still runs.
class ChildProcess {
 public:
  struct Started;

  // Starts the program at `path` with one end of a stream socket as its stdin; the other one is
  // `channel`. `arguments` begin with the program's name. What it prints goes to stderr: stdout is
  // for results. ErrorKind::failed says what the system refused.
  static Expected<Started> start(const std::string& path, std::vector<std::string> arguments);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) = delete;

  // Sends SIGTERM.
  void interrupt() const;

  // Waits for the end of a process that ends by itself, or crashed.
  ProcessEnd wait();

 private:
  explicit ChildProcess(pid_t process) : process_(process) {}

  pid_t process_;
};

struct ChildProcess::Started {
  ChildProcess process;
  Descriptor channel;
};

}  // namespace gemmtune::app
