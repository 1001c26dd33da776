#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace gemmtune::app {

// A new folder that only this user can read, by its absolute path; removed with the object.
class TemporaryFolder {
 public:
  // Usage error, or what the system says, where none can be made.
  static Expected<TemporaryFolder> create();
  // Of no folder, with an empty path.
  static TemporaryFolder none() { return TemporaryFolder({}); }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

  // Its path; the folder stays when the object goes.
  std::string keep() { return std::exchange(path_, {}); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// What a program that ran has counted in `folder` must not be lost for an error behind it: the
// folder is kept, and the error says how `command` of gemm-tune reads it.
Error keep_counts(TemporaryFolder& folder, Error error, std::string_view command);

}  // namespace gemmtune::app
