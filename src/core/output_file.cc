#include "core/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "core/file_error.h"
#include "core/names.h"

namespace gemmtune {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kMostLinks = 40;  // as many as Linux follows
constexpr int kMostNames = 100;
constexpr int kMostRemovals = 5;
constexpr std::string_view kTemporaryPrefix = ".gemm-tune.tmp-";  // then two numbers: A-B
constexpr mode_t kUsualMode = 0666;  // from which the kernel takes what the umask forbids
constexpr mode_t kOwnMode = 0644;    // of the program's own files
constexpr mode_t kPermissions = 07777;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_in_proc(const fs::path& path) {
  struct statfs about {};
  return ::statfs(folder_of(path).c_str(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

// The name that symbolic links lead to, whether or not a file is there; empty for what a link of
// /proc leads to, which is an open file (/dev/stdout) and no name. Nothing for links in a circle.
std::optional<fs::path> behind_links(fs::path path) {
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code no_link;
    const fs::path link = fs::read_symlink(path, no_link);
    if (no_link) return path;
    if (is_in_proc(path)) return fs::path();
    path = path.parent_path() / link;
  }
  return std::nullopt;
}

// Creates a file beside `target`; its descriptor and name, or an errno.
tl::expected<std::pair<int, std::string>, int> create_beside(const fs::path& target, mode_t mode) {
  std::random_device random;
  for (int i = 0; i < kMostNames; ++i) {
    const fs::path name =
        folder_of(target) / (std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" +
                             std::to_string(random()) + std::to_string(random()));
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return std::pair(fd, name.string());
    if (errno != EEXIST) return tl::unexpected(errno);
  }
  return tl::unexpected(EEXIST);
}

// An errno, 0 for success.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return 0;
}

// Brings what was written to the disk; an errno, 0 for success.
int sync_file(int fd) {
  int failed = 0;
  do failed = ::fsync(fd);
  while (failed != 0 && errno == EINTR);
  // What is no regular file, and some file systems, have no fsync.
  return failed == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

// As sync_file(). Some file systems report a full disk only here.
int close_file(int fd) {
  return ::close(fd) == 0 ? 0 : errno;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string cannot_write(const fs::path& path) {
  return "cannot write " + in_quotes(path.string());
}

// Makes the folder of `path` and, in it, a file that then takes this name; an errno, 0 for success.
int replace_file(const fs::path& path, std::string_view bytes) {
  if (!may_be_as_large_as(bytes.size())) return EFBIG;
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return error.value();
  const auto created = create_beside(path, kOwnMode);
  if (!created) return created.error();
  const auto& [fd, temporary] = *created;
  int code = write_all(fd, bytes);
  if (code == 0) code = sync_file(fd);
  const int closed = close_file(fd);
  if (code == 0) code = closed;
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) ::unlink(temporary.c_str());
  return code;
}

// Results of hours may be in it, and commands write theirs by other ways. Source: SQLite, "Database
// File Format", 1.3.
bool holds_database(const fs::path& path) {
  constexpr std::string_view kBegin{"SQLite format 3\0", 16};
  std::string begin(kBegin.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kBegin;
}

}  // namespace

Expected<OutputFile> OutputFile::create(const fs::path& path, std::span<const std::string> read) {
  const auto is_path = [&](const std::string& other) {
    std::error_code missing;
    return fs::equivalent(path, other, missing);
  };
  const std::string name = in_quotes(path.string());
  if (std::any_of(read.begin(), read.end(), is_path))
    return usage_error(name + " is read by this command; name another file to write");
  auto file = prepare(path);
  if (file && holds_database(file->target_))
    return usage_error(name + " is a database; name another file to write");
  return file;
}

Expected<void> OutputFile::try_path(const fs::path& path) {
  auto file = prepare(path);
  return file ? Expected<void>() : tl::unexpected(file.error());
}

Expected<OutputFile> OutputFile::prepare(const fs::path& path) {
  const std::string name = in_quotes(path.string());
  if (path.empty()) return usage_error("the name of the file to write is empty");
  if (path == "-") {
    return usage_error(
        "'-' stands for stdout, where the command prints other things; name a file (./- for one "
        "of this name)");
  }
  OutputFile file(path);
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return usage_error(name + " is a folder; name a file in it");
  const auto target = behind_links(path);
  if (!target) return tl::unexpected(file_error(cannot_write(path), ELOOP));
  if (exists && (!S_ISREG(info.st_mode) || target->empty())) {
    if (auto opened = file.open_directly(); !opened) return tl::unexpected(opened.error());
    return file;
  }
  file.target_ = *target;
  if (exists) file.mode_ = info.st_mode & kPermissions;
  if (auto checked = file.check_replaceable(); !checked) return tl::unexpected(checked.error());
  return file;
}

Expected<void> OutputFile::open_directly() {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
  if (fd_ < 0) return tl::unexpected(file_error(cannot_write(path_), errno));
  return {};
}

Expected<void> OutputFile::check_replaceable() {
  const fs::path folder = folder_of(target_);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return usage_error(in_quotes(path_.string()) + ": there is no folder " +
                       in_quotes(folder.string()));
  }
  // Its folder would allow to replace it, but whoever made it read-only does not want that.
  if (mode_ && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    return tl::unexpected(file_error(cannot_write(path_), errno));
  const auto tried = create_beside(target_, kUsualMode);
  if (!tried) return tl::unexpected(file_error(cannot_write(path_), tried.error()));
  ::close(tried->first);
  ::unlink(tried->second.c_str());
  return {};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      mode_(other.mode_),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) flush();
}

// At the first bytes to write, so that a killed search leaves nothing.
bool OutputFile::open_temporary() {
  auto created = create_beside(target_, mode_.value_or(kUsualMode));
  if (!created) {
    error_ = created.error();
    return false;
  }
  std::tie(fd_, temporary_) = *std::move(created);
  if (mode_ && ::fchmod(fd_, *mode_) != 0) error_ = errno;
  return error_ == 0;
}

bool OutputFile::flush() {
  if (error_ == 0 && fd_ < 0) open_temporary();
  if (error_ == 0) error_ = write_all(fd_, buffer_);
  buffer_.clear();
  return error_ == 0;
}

Expected<void> OutputFile::commit() {
  if (flush()) error_ = sync_file(fd_);
  if (fd_ >= 0) {
    const int code = close_file(std::exchange(fd_, -1));
    if (error_ == 0) error_ = code;
  }
  const bool by_name = !target_.empty();
  if (error_ == 0 && by_name && ::rename(temporary_.c_str(), target_.c_str()) != 0) error_ = errno;
  if (error_ != 0) {
    Error error = file_error(cannot_write(path_), error_);
    if (by_name) error.message += "; it is as it was";
    return tl::unexpected(std::move(error));
  }
  temporary_.clear();
  return {};
}

bool may_be_as_large_as(size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  const std::string_view numbers = name.substr(kTemporaryPrefix.size());
  const size_t dash = numbers.find('-');
  if (dash == std::string_view::npos) return false;
  return is_number(numbers.substr(0, dash)) && is_number(numbers.substr(dash + 1));
}

Expected<void> write_file(const fs::path& path, std::string_view bytes) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->write(bytes);
  return file->commit();
}

Expected<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  int code = ENOENT;
  for (int i = 0; i < kMostRemovals && code == ENOENT; ++i) code = replace_file(path, bytes);
  if (code == 0) return {};
  return make_error(ErrorKind::io,
                    "cannot write " + path.string() + ": " + std::generic_category().message(code));
}

}  // namespace gemmtune
