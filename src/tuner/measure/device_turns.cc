#include "tuner/measure/device_turns.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace gemmtune::tuner {
namespace {

constexpr std::chrono::milliseconds kTurnPoll{1};

// Another user's file in a shared folder can be opened to read, which is enough to lock it, but not
// with O_CREAT.
Descriptor open_or_make(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor there(::open(path.c_str(), kFlags));
  if (there.is_open() || errno != ENOENT) return there;
  Descriptor made(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644));
  if (made.is_open() || errno != EEXIST) return made;
  return Descriptor(::open(path.c_str(), kFlags));
}

bool is_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Expected<DeviceTurns> DeviceTurns::open(const std::filesystem::path& folder,
                                        const std::string& uuid) {
  const std::string path = folder / ("gemm-tune-" + uuid + ".lock");
  Descriptor file = open_or_make(path);
  if (!file.is_open()) return make_error(ErrorKind::io, path + ": " + std::strerror(errno));
  if (!is_file(file.get())) return make_error(ErrorKind::io, path + ": not a regular file");
  return DeviceTurns(std::move(file));
}

DeviceTurns::Turn::~Turn() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

DeviceTurns::Turn::Turn(Turn&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DeviceTurns::Turn DeviceTurns::take(std::chrono::milliseconds longest) const {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    const bool is_taken = errno == EWOULDBLOCK || errno == EINTR;
    if (!is_taken || std::chrono::steady_clock::now() >= end) return Turn(-1);
    std::this_thread::sleep_for(kTurnPoll);
  }
  return Turn(file_.get());
}

}  // namespace gemmtune::tuner
