#include "jit/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <random>
#include <system_error>

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t kTouchAfterSeconds = 3600;

// Owner of a file descriptor.
class File {
 public:
  File(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  // Some file systems report a full disk only here.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool sync(int fd) {
  int rc = 0;
  do rc = ::fsync(fd);
  while (rc != 0 && errno == EINTR);
  // Some file systems have no fsync; the checksum covers for it.
  return rc == 0 || errno == EINVAL || errno == ENOTSUP;
}

tl::unexpected<Error> io_error(const fs::path& path, int code) {
  return make_error(ErrorKind::io, fmt::format("cannot write {}: {}", path.string(),
                                               std::generic_category().message(code)));
}

fs::path temporary_name(const fs::path& path) {
  std::random_device random;
  return path.string() +
         fmt::format("{}{}-{:08x}{:08x}", kTemporaryMark, ::getpid(), random(), random());
}

// Writes and closes; errno tells the failure.
bool fill(const fs::path& path, std::string_view bytes) {
  File file(path, O_WRONLY | O_CREAT | O_EXCL);
  return file.is_open() && write_all(file.fd(), bytes) && sync(file.fd()) && file.close();
}

}  // namespace

Expected<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return io_error(path, error.value());
  const fs::path temporary = temporary_name(path);
  if (fill(temporary, bytes) && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int code = errno;
  ::unlink(temporary.c_str());
  return io_error(path, code);
}

std::optional<std::string> read_and_touch(const fs::path& path, int64_t max_bytes) {
  // NONBLOCK: a pipe that someone put there must not stop us.
  const File file(path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!file.is_open() || ::fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size > max_bytes)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.fd(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it shrank; the reader's checksum will tell
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  if (std::time(nullptr) - info.st_mtime > kTouchAfterSeconds)
    static_cast<void>(::futimens(file.fd(), nullptr));  // a read-only cache is fine
  return bytes;
}

}  // namespace gemmtune::jit
