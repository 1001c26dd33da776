#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/names.h"

namespace gemmtune::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 20;

std::string reason(int code) {
  return std::generic_category().message(code);
}

// What open(2) would give a new file; mkstemp makes it private.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Expected<OutputFile> OutputFile::create(const fs::path& path) {
  const std::string name = in_quotes(path.string());
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (path.empty()) return usage_error("the name of the file to write is empty");
  if (fs::is_directory(path, error)) return usage_error(name + " is a folder; name a file in it");
  if (!fs::is_directory(folder, error))
    return usage_error(name + ": there is no folder " + in_quotes(folder.string()));
  if (fs::exists(path, error) && !fs::is_regular_file(path, error))
    return usage_error(name + " is no regular file; use - to write to stdout");
  std::string temporary = path.string() + ".tmp-XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return usage_error("cannot write " + name + ": " + reason(errno));
  static_cast<void>(::fchmod(fd, usual_mode()));
  return OutputFile(path, std::move(temporary), fd);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {
  other.temporary_.clear();
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) flush();
}

bool OutputFile::flush() {
  std::string_view rest = buffer_;
  while (error_ == 0 && !rest.empty()) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      error_ = done < 0 ? errno : EIO;
    } else {
      rest.remove_prefix(static_cast<size_t>(done));
    }
  }
  buffer_.clear();
  return error_ == 0;
}

Expected<void> OutputFile::commit() {
  // Some file systems have no fsync.
  if (flush() && ::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) error_ = errno;
  // Some report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) {
    return make_error(ErrorKind::io, fmt::format("cannot write {}: {}; it is as it was",
                                                 in_quotes(path_.string()), reason(error_)));
  }
  temporary_.clear();
  return {};
}

}  // namespace gemmtune::cli
