#include "jit/disassembler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/descriptor.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "nvdisasm";

// A file that is gone with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code error;
    name_ = (fs::temp_directory_path(error) / "gemm-tune-XXXXXX").string();
    fd_ = ::mkstemp(name_.data());
  }
  ~TemporaryFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }
  bool write(std::span<const std::byte> bytes) const {
    while (fd_ >= 0 && !bytes.empty()) {
      const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<size_t>(done));
    }
    return fd_ >= 0;
  }

 private:
  std::string name_;
  int fd_ = -1;
};

tl::unexpected<Error> failed(const fs::path& program, const std::string& why) {
  return make_error(ErrorKind::failed, fmt::format("{}: {}", program.string(), why));
}

std::string text_of(int code) {
  return std::generic_category().message(code);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

// Runs `program -c file` and returns what it writes, stderr included.
Expected<std::string> run(const fs::path& program, const std::string& file) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed(program, text_of(errno));
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  std::string name = program.string();
  std::string option = "-c";
  std::string argument = file;
  const std::array<char*, 4> arguments = {name.data(), option.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, name.c_str(), &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  to.close();
  if (code != 0) return failed(program, text_of(code));
  std::string output = read_all(from.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string first = output.substr(0, output.find('\n'));
  return failed(program, first.empty() ? "ended without a word" : first);
}

}  // namespace

Expected<fs::path> find_disassembler(std::span<const fs::path> folders) {
  for (const fs::path& folder : folders) {
    fs::path path = folder / kName;
    std::error_code error;
    if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return make_error(ErrorKind::unsupported,
                    "nvdisasm was found neither in a CUDA toolkit nor on PATH; it comes with the "
                    "toolkit (package cuda-nvdisasm) and as the Python package "
                    "nvidia-cuda-nvdisasm; put it on PATH");
}

Expected<std::string> disassemble(const fs::path& nvdisasm, std::span<const std::byte> cubin) {
  const TemporaryFile file;
  if (!file.write(cubin))
    return make_error(ErrorKind::io,
                      fmt::format("cannot write {}: {}", file.name(), text_of(errno)));
  return run(nvdisasm, file.name());
}

}  // namespace gemmtune::jit
