#pragma once

#include <cstdint>
#include <string>

namespace gemmtune::store {

// A process, as another one recognises it.
struct ProcessIdentity {
  // One boot of one machine and one PID namespace of it, in which a pid is one process at a time;
  // empty where that cannot be told.
  std::string machine;
  int64_t pid = 0;
  int64_t started = 0;  // clock ticks since the boot: tells apart processes of the same pid
};

// Of a process in this PID namespace that runs.
ProcessIdentity identity_of(int64_t pid);
ProcessIdentity this_process();

// True if it is certain that `process` has ended: it ran on this machine and is there no longer (or
// waits for its parent to take note). False for a process of another machine or PID namespace.
bool has_ended(const ProcessIdentity& process);

}  // namespace gemmtune::store
