#include "store/process_identity.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

namespace gemmtune::store {
namespace {

// What /proc/PID/stat says of a process.
struct Status {
  char state = 0;       // 'Z' and 'X': ended
  int64_t started = 0;  // clock ticks since the boot
};

// Empty where there is no such process, or where the system hides it.
std::optional<Status> status_of(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  // A process that ends before it is read leaves a file whose reading fails: unlike an iterator
  // over the stream's buffer, getline does not throw then.
  std::string text;
  std::getline(file, text, '\0');
  // The second field is the command's name in parentheses, which may hold blanks and parentheses.
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  Status status;
  fields >> status.state;
  constexpr int kBetweenStateAndStart = 18;
  std::string ignored;
  for (int i = 0; i < kBetweenStateAndStart; ++i) fields >> ignored;
  fields >> status.started;
  if (!fields) return std::nullopt;
  return status;
}

std::string this_machine() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code failed;
  const auto pids = std::filesystem::read_symlink("/proc/self/ns/pid", failed);
  if (boot.empty() || failed) return {};
  return boot + " " + pids.string();
}

}  // namespace

ProcessIdentity identity_of(int64_t pid) {
  const auto status = status_of(pid);
  if (!status) return {};
  return {this_machine(), pid, status->started};
}

ProcessIdentity this_process() {
  return identity_of(getpid());
}

bool has_ended(const ProcessIdentity& process) {
  if (process.machine.empty() || process.machine != this_machine()) return false;
  const auto status = status_of(process.pid);
  if (!status) return kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH;
  return status->started != process.started || status->state == 'Z' || status->state == 'X';
}

}  // namespace gemmtune::store
