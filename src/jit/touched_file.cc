#include "jit/touched_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "core/descriptor.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t kTouchAfterSeconds = 3600;

}  // namespace

std::optional<std::string> read_and_touch(const fs::path& path, int64_t max_bytes) {
  // NONBLOCK: a pipe that someone put there must not stop us.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size > max_bytes)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;  // it shrank; the reader's checksum will tell
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  if (std::time(nullptr) - info.st_mtime > kTouchAfterSeconds)
    static_cast<void>(::futimens(file.get(), nullptr));  // a read-only cache is fine
  return bytes;
}

}  // namespace gemmtune::jit
