#include "app/capture/program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "core/names.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

constexpr char kLibraryName[] = "libgemmtune_cublas.so";
constexpr int kSignalBase = 128;  // as shells count

// While it lives, signals are the program's: those of the terminal (Ctrl-C, Ctrl-\) reach it
// anyway, and those that ask a program to end, or to save what it has, are handed on.
class ProgramSignals {
 public:
  ProgramSignals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < kTerminal.size(); ++i)
      ::sigaction(kTerminal[i], &ignore, &old_actions_[i]);
    // Where it is ignored, the system keeps no exit codes.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &old_child_action_);
    ::sigemptyset(&awaited_);
    ::sigaddset(&awaited_, SIGCHLD);
    for (const int number : kHandedOn) ::sigaddset(&awaited_, number);
    ::sigprocmask(SIG_BLOCK, &awaited_, &old_mask_);
  }
  ~ProgramSignals() {
    // Those of the program's last moment were for it, too.
    constexpr timespec kNow = {};
    while (::sigtimedwait(&awaited_, nullptr, &kNow) > 0) {
    }
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
    ::sigaction(SIGCHLD, &old_child_action_, nullptr);
    for (size_t i = 0; i < kTerminal.size(); ++i)
      ::sigaction(kTerminal[i], &old_actions_[i], nullptr);
  }
  ProgramSignals(const ProgramSignals&) = delete;
  ProgramSignals& operator=(const ProgramSignals&) = delete;

  // A program that is started with these finds signals as this process found them.
  void restore_in(posix_spawnattr_t& attributes) const {
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (size_t i = 0; i < kTerminal.size(); ++i) {
      if (old_actions_[i].sa_handler != SIG_IGN) ::sigaddset(&defaults, kTerminal[i]);
    }
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setsigmask(&attributes, &old_mask_);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }

  // Waits for the end of a program; its status as waitpid() gives it.
  int wait_for(pid_t program) const {
    int status = 0;
    while (::waitpid(program, &status, WNOHANG) == 0) {
      const int number = ::sigwaitinfo(&awaited_, nullptr);
      const bool handed_on =
          std::find(kHandedOn.begin(), kHandedOn.end(), number) != kHandedOn.end();
      if (handed_on) ::kill(program, number);
    }
    return status;
  }

 private:
  static constexpr std::array<int, 2> kTerminal = {SIGINT, SIGQUIT};
  static constexpr std::array<int, 4> kHandedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, 2> old_actions_ = {};
  struct sigaction old_child_action_ = {};
  sigset_t awaited_ = {};
  sigset_t old_mask_ = {};
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

bool ends_early_in_list(const fs::path& path) {
  return path.string().find_first_of(" \t\n:") != std::string::npos;
}

// A name of the library that LD_PRELOAD can hold.
Expected<fs::path> preloadable(const fs::path& library, const fs::path& folder) {
  if (!ends_early_in_list(library)) return library;
  const fs::path link = folder / kLibraryName;
  const auto refuse = [&library](const std::string& why) {
    return make_error(
        ErrorKind::unsupported,
        fmt::format("{} cannot be preloaded, because its path has a blank or a colon, and {}",
                    in_quotes(library.string()), why));
  };
  if (ends_early_in_list(link))
    return refuse("so has the folder for temporary files; set TMPDIR to another");
  std::error_code error;
  fs::create_symlink(library, link, error);
  if (error)
    return refuse(fmt::format("{} cannot be made: {}", in_quotes(link.string()), error.message()));
  return link;
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Expected<fs::path> find_preload_library(const fs::path& executable) {
  const fs::path folder = executable.parent_path();
  // Of an installation, of a build, of a Python package, and of what was copied.
  const std::array<fs::path, 4> folders = {folder / ".." / GEMMTUNE_LIBRARY_FOLDER,
                                           folder / ".." / "lib", folder / ".." / "_lib", folder};
  for (const fs::path& place : folders) {
    const fs::path library = (place / kLibraryName).lexically_normal();
    std::error_code error;
    if (fs::is_regular_file(library, error)) return library;
  }
  return make_error(
      ErrorKind::unsupported,
      fmt::format("there is no {} in {} or {}; install it with cmake --install, or copy it beside "
                  "gemm-tune",
                  kLibraryName, in_quotes(folders[0].lexically_normal().string()),
                  in_quotes(folder.string())));
}

Expected<std::string> preload_list(const fs::path& library, const fs::path& folder) {
  const auto named = preloadable(library, folder);
  if (!named) return tl::unexpected(named.error());
  const char* const others = std::getenv("LD_PRELOAD");
  if (others == nullptr || *others == '\0') return named->string();
  return std::string(others) + ":" + named->string();
}

Expected<int> run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables) {
  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> variable_texts = environment_with(variables);
  const ProgramSignals signals;
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  signals.restore_in(attributes);
  pid_t process = 0;
  const int failed =
      ::posix_spawnp(&process, arguments.front().c_str(), nullptr, &attributes,
                     pointers(argument_texts).data(), pointers(variable_texts).data());
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return usage_error(fmt::format("cannot start {}: {}", in_quotes(arguments.front()),
                                   std::generic_category().message(failed)));
  }
  return exit_code_of(signals.wait_for(process));
}

}  // namespace gemmtune::app
