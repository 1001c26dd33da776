#include "tuner/measure/device_turns.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace gemmtune::tuner {
namespace {

constexpr std::chrono::milliseconds kTurnPoll{1};

// Another user's file in a shared folder can be opened to read, which is enough to lock it, but not
// with O_CREAT.
int open_or_make(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int there = ::open(path.c_str(), kFlags);
  if (there >= 0 || errno != ENOENT) return there;
  const int made = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644);
  if (made >= 0 || errno != EEXIST) return made;
  return ::open(path.c_str(), kFlags);
}

bool is_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Expected<DeviceTurns> DeviceTurns::open(const std::filesystem::path& folder,
                                        const std::string& uuid) {
  const std::string path = folder / ("gemm-tune-" + uuid + ".lock");
  const int fd = open_or_make(path);
  if (fd < 0) return make_error(ErrorKind::io, path + ": " + std::strerror(errno));
  if (is_file(fd)) return DeviceTurns(fd);
  ::close(fd);
  return make_error(ErrorKind::io, path + ": not a regular file");
}

DeviceTurns::~DeviceTurns() {
  if (fd_ >= 0) ::close(fd_);
}

DeviceTurns::DeviceTurns(DeviceTurns&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DeviceTurns::Turn::~Turn() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

DeviceTurns::Turn::Turn(Turn&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DeviceTurns::Turn DeviceTurns::take(std::chrono::milliseconds longest) const {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() >= end) return Turn(-1);
    std::this_thread::sleep_for(kTurnPoll);
  }
  return Turn(fd_);
}

}  // namespace gemmtune::tuner
