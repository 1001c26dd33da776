#include "app/common/child_process.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/names.h"

namespace gemmtune::app {
namespace {

Error system_error(const std::string& what, int code) {
  return {ErrorKind::failed, what + ": " + std::generic_category().message(code)};
}

// Returns 0, or what went wrong.
int spawn(const std::string& path, std::vector<std::string>& arguments, int channel,
          pid_t& process) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int failed =
      ::posix_spawn(&process, path.c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// Whether a process gets this signal for what it does itself.
bool is_crash(int signal) {
  constexpr std::array kCrashes = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  return std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
}

}  // namespace

Expected<ChildProcess::Started> ChildProcess::start(const std::string& path,
                                                    std::vector<std::string> arguments) {
  std::array<int, 2> ends = {-1, -1};
  // Closed in every process that is started; dup2 makes one that is not.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return tl::unexpected(system_error("cannot make a channel to a process", errno));
  Descriptor own(ends[0]);
  const Descriptor others(ends[1]);
  pid_t process = 0;
  if (const int failed = spawn(path, arguments, others.get(), process); failed != 0)
    return tl::unexpected(system_error("cannot start " + in_quotes(path), failed));
  return Started{ChildProcess(process), std::move(own)};
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)) {}

ChildProcess::~ChildProcess() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  wait();
}

void ChildProcess::interrupt() const {
  if (process_ != 0) ::kill(process_, SIGTERM);
}

ProcessEnd ChildProcess::wait() {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(process_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  process_ = 0;
  // Where SIGCHLD is ignored, the system keeps no status.
  if (ended < 0) return {"unknown", false};
  if (!WIFSIGNALED(status)) return {fmt::format("exit code {}", WEXITSTATUS(status)), true};
  const int signal = WTERMSIG(status);
  return {fmt::format("signal {} ({})", signal, ::strsignal(signal)), is_crash(signal)};
}

}  // namespace gemmtune::app
