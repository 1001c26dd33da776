#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/error.h"

namespace gemmtune::store {

// The name of the network file system that statfs(2) reports by this f_type ("NFS"), or nothing
// for any other file system. Source of the numbers: statfs(2), linux/magic.h.
std::optional<std::string_view> network_file_system(uint64_t statfs_type);

// Refuses a database on a network file system, where the locks and the shared memory that SQLite's
// WAL needs are not reliable; the message names the ways out.
Expected<void> check_local(const std::filesystem::path& path, uint64_t statfs_type);

// How the file is going to be used.
struct PathUse {
  bool read_only = false;
  bool create_directory = false;
};

// Checks, before SQLite touches it, that `path` can be a database: its folder exists (or is
// created, with create_directory), it is local, and it is absent, empty or begins like a database.
// Errors are of kind usage; not_found for a file that is absent and read_only.
Expected<void> check_path(const std::filesystem::path& path, PathUse use);

}  // namespace gemmtune::store
