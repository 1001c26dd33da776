#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune::cli {

// A file that appears whole or not at all, written piece by piece: under another name in the same
// folder until commit(). Destroyed without it, nothing is left.
class OutputFile {
 public:
  // Usage error if `path` cannot become a file: a folder, or in a folder that is missing or not
  // writable.
  static Expected<OutputFile> create(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // A failure is reported by commit().
  void write(std::string_view bytes);

  // Makes `path` hold what was written. On failure (ErrorKind::io) it is unchanged.
  Expected<void> commit();

 private:
  OutputFile(std::filesystem::path path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  bool flush();

  std::filesystem::path path_;
  std::string temporary_;
  int fd_;  // -1: closed
  std::string buffer_;
  int error_ = 0;  // the first errno
};

}  // namespace gemmtune::cli
