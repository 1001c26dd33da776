#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune::jit {

// Names of files that are being written contain this; whoever finds an old one may delete it.
inline constexpr std::string_view kTemporaryMark = ".tmp-";

// Makes `path` hold `bytes`, whole or not at all: written under another name in the same folder,
// fsynced, renamed over. Creates the folder. On failure (ErrorKind::io) `path` is unchanged and the
// temporary file is gone. Safe against other threads and processes that write the same path.
Expected<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

// All of a regular file, empty if it cannot be read or has more than `max_bytes`. Sets the file's
// modification time to now if that is more than an hour old, which is what pruning goes by.
std::optional<std::string> read_and_touch(const std::filesystem::path& path, int64_t max_bytes);

}  // namespace gemmtune::jit
