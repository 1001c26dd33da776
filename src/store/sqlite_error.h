#pragma once

#include <SQLiteCpp/Exception.h>

#include <filesystem>
#include <string>

#include "core/error.h"

namespace gemmtune::store {

// When a database failed decides whether the user's path is to blame.
enum class Phase { opening, working };

// What SQLite reported about the database `path`, as one line. Of kind usage where, on opening, the
// user has to name another file (it is no database, or not writable), else io: a damaged one is,
// whenever that is found.
Error to_error(const SQLite::Exception& exception, const std::filesystem::path& path, Phase phase);

// The error, of kind io, for a database whose contents are not what this program writes.
Error damage_error(const std::string& what, const std::filesystem::path& path);

}  // namespace gemmtune::store
