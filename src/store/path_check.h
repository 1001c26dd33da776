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
// created, with create_directory), it is local, and it is absent or a regular file of other
// than one byte. Errors are of kind usage; not_found for a file that is absent and read_only.
//
// The file is not opened. To close any descriptor of a database takes the locks of all connections
// that this process has to it (sqlite.org/howtocorrupt.html), so only SQLite opens databases.
Expected<void> check_path(const std::filesystem::path& path, PathUse use);

}  // namespace gemmtune::store
