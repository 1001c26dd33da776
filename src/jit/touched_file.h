#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace gemmtune::jit {

// All of a regular file, empty if it cannot be read or has more than `max_bytes`. Sets the file's
// modification time to now if that is more than an hour old, which is what pruning goes by.
std::optional<std::string> read_and_touch(const std::filesystem::path& path, int64_t max_bytes);

}  // namespace gemmtune::jit
