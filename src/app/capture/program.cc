#include "app/capture/program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "core/names.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

constexpr char kLibraryName[] = "libgemmtune_cublas.so";
constexpr int kSignalBase = 128;  // as shells count

// Ctrl-C and Ctrl-\ reach every process of the terminal; the program decides what they mean.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &ignore, &old_[i]);
  }
  ~IgnoredSignals() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

  // Those that a program started here must not find ignored.
  sigset_t to_restore() const {
    sigset_t set;
    ::sigemptyset(&set);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      if (old_[i].sa_handler != SIG_IGN) ::sigaddset(&set, kSignals[i]);
    }
    return set;
  }

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGQUIT};
  std::array<struct sigaction, 2> old_ = {};
};

// This process's variables with some replaced, as a new process takes them.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) texts.push_back(text);
  }
  for (const auto& [name, value] : variables)
    texts.push_back(std::string(name).append("=").append(value));
  return texts;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Expected<fs::path> find_preload_library(const fs::path& executable) {
  const fs::path folder = executable.parent_path();
  const std::array<fs::path, 3> folders = {folder / ".." / GEMMTUNE_LIBRARY_FOLDER,
                                           folder / ".." / "lib", folder};
  for (const fs::path& place : folders) {
    const fs::path library = (place / kLibraryName).lexically_normal();
    std::error_code error;
    if (!fs::is_regular_file(library, error)) continue;
    if (library.string().find_first_of(" :") == std::string::npos) return library;
    return make_error(
        ErrorKind::unsupported,
        fmt::format("{} cannot be preloaded, because its path has a blank or a colon; "
                    "copy gemm-tune and {} elsewhere",
                    in_quotes(library.string()), kLibraryName));
  }
  return make_error(
      ErrorKind::unsupported,
      fmt::format("there is no {} in {} or {}; install it with cmake --install, or copy it beside "
                  "gemm-tune",
                  kLibraryName, in_quotes(folders[0].lexically_normal().string()),
                  in_quotes(folder.string())));
}

Expected<int> run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables) {
  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> variable_texts = environment_with(variables);
  const IgnoredSignals ignored;
  const sigset_t defaults = ignored.to_restore();
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int failed =
      ::posix_spawnp(&process, arguments.front().c_str(), nullptr, &attributes,
                     pointers(argument_texts).data(), pointers(variable_texts).data());
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return usage_error(fmt::format("cannot start {}: {}", in_quotes(arguments.front()),
                                   std::generic_category().message(failed)));
  }
  return wait_for(process);
}

}  // namespace gemmtune::app
