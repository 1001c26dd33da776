#include "process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gemmtune::cli_test {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A fresh name for the output of a process, outside the test folder.
fs::path temporary_file() {
  std::string name = (fs::temp_directory_path() / "gemm-tune-test-out-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) throw std::runtime_error("mkstemp");
  close(file);
  return name;
}

}  // namespace

Process::Process(const TestFolder& folder, const Arguments& arguments, const Variables& variables,
                 const std::string& err)
    : out_(temporary_file()), err_(temporary_file()) {
  const std::string binary = GEMMTUNE_BINARY_DIR "/bin/gemm-tune";
  std::vector<std::string> argument_texts = {binary};
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  // Without a device, so that these tests mean the same on a machine that has one.
  const std::string own = folder.path().string();
  Variables all = {
      {"PATH", "/usr/bin:/bin"}, {"CUDA_VISIBLE_DEVICES", "-1"}, {"HOME", own}, {"TMPDIR", own}};
  for (const auto& [name, value] : variables) all.insert_or_assign(name, value);
  std::vector<std::string> variable_texts;
  for (const auto& [name, value] : all)
    variable_texts.push_back(std::string(name).append("=").append(value));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_TRUNC, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
                                   err.empty() ? err_.c_str() : err.c_str(),
                                   O_WRONLY | O_TRUNC | O_NOCTTY, 0);
  const int failed = posix_spawn(&pid_, binary.c_str(), &actions, nullptr,
                                 pointers(argument_texts).data(), pointers(variable_texts).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + binary);
}

Process::~Process() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  std::error_code ignored;
  fs::remove(out_, ignored);
  fs::remove(err_, ignored);
}

bool Process::running() {
  if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

Finished Process::wait() {
  if (!ended_) waitpid(pid_, &status_, 0);
  ended_ = true;
  Finished finished;
  finished.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  finished.out = read_text(out_);
  finished.err = read_text(err_);
  return finished;
}

void Process::signal(int number) const {
  kill(pid_, number);
}

std::string Process::err_so_far() const {
  return read_text(err_);
}

Finished run(const TestFolder& folder, const Arguments& arguments, const Variables& variables) {
  return Process(folder, arguments, variables).wait();
}

std::string err_on_terminal(const TestFolder& folder, const Arguments& arguments,
                            const Variables& variables) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    throw std::runtime_error("no pseudo terminal");
  Process process(folder, arguments, variables, ptsname(terminal));
  std::string text;
  char buffer[4096];
  // Reading fails when the process, the only one that has its other side open, has ended.
  for (ssize_t got = 0; (got = read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(terminal);
  process.wait();
  return text;
}

Variables compiler_variables() {
  Variables variables;
  for (const char* name : {"GEMM_TUNE_NVRTC", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr) variables[name] = value;
  }
  return variables;
}

void require_compiler() {
  const TestFolder folder;
  const Finished finished = run(folder, {"doctor"}, compiler_variables());
  if (finished.code == 0) return;
  std::fprintf(stderr, "skipped: %s%s\n", finished.out.c_str(), finished.err.c_str());
  std::exit(77);
}

}  // namespace gemmtune::cli_test
