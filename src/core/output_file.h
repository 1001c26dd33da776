#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune {

// A file that a user named to be written: the only way in which a command writes one.
//
// A regular file appears whole or not at all: it is written under another name, in the folder of
// the file that symbolic links lead to, until commit(). It keeps the permissions of the file that
// it replaces. Destroyed without commit(), nothing is left. Anything else (a device, a FIFO,
// /dev/stdout) is opened and written as it is.
class OutputFile {
 public:
  // To be called before long work, which an unwritable file must not cost. Leaves no trace in the
  // folder of a regular file. Usage error if `path` cannot be written: it is empty, "-", a folder,
  // in a folder that is missing, or not permitted; and if it holds a database, or is one of the
  // files that the command has to `read`, by whatever name.
  static Expected<OutputFile> create(const std::filesystem::path& path,
                                     std::span<const std::string> read = {});

  // The error that create() has for the path itself, for a file that other code writes.
  static Expected<void> try_path(const std::filesystem::path& path);

  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // A failure is reported by commit().
  void write(std::string_view bytes);

  // Makes `path` hold what was written. On failure (as core/file_error.h) a regular file is
  // unchanged.
  Expected<void> commit();

 private:
  explicit OutputFile(std::filesystem::path path) : path_(std::move(path)) {}
  static Expected<OutputFile> prepare(const std::filesystem::path& path);
  Expected<void> open_directly();
  Expected<void> check_replaceable();
  bool open_temporary();
  bool flush();

  std::filesystem::path path_;    // as the user named it
  std::filesystem::path target_;  // what is replaced; empty: written directly
  std::optional<mode_t> mode_;    // of the file that is replaced; none: there is none
  std::string temporary_;         // what exists until commit(); empty: nothing yet
  int fd_ = -1;                   // -1: not open
  std::string buffer_;
  int error_ = 0;  // the first errno
};

// Writes all of a file that a user named.
Expected<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// Whether a file's name (without its folder) is of the form that files have while they are written.
// Whoever finds an old one may delete it.
bool is_temporary_name(std::string_view name);

// Whether the process may write a file of that size. Where not, trying ends it by a signal.
bool may_be_as_large_as(size_t bytes);

// Makes a file of the program's own hold `bytes`, whole or not at all. Creates its folder, and
// replaces whatever has the name, a link too. On failure (ErrorKind::io) `path` is unchanged and
// nothing else is left. Safe against other threads and processes that write the same path, or
// remove the folder: it is made again, a few times.
Expected<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gemmtune
