#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/embedded_file.h"
#include "core/error.h"

namespace gemmtune::store {

// One step of the schema, from version - 1 to version.
struct Migration {
  int version = 0;
  std::string_view name;  // "initial"
  std::string_view sql;
};

// Marks a database as gemm-tune's (PRAGMA application_id): "gtdb".
inline constexpr int kApplicationId = 0x67746462;

// The migrations of db/migrations, in order. Throws std::logic_error if the files, named
// NNNN_name.sql, are not numbered 1, 2, 3, ... without a gap.
std::vector<Migration> read_migrations(std::span<const embedded::File> files);

// The migrations compiled in.
const std::vector<Migration>& known_migrations();

// What a database says about itself.
struct SchemaState {
  int version = 0;       // PRAGMA user_version; 0 for an empty file
  bool foreign = false;  // tables of another program
};

// Reads the state without writing. Within a transaction, or the parts may be of different moments.
// Throws SQLite::Exception.
SchemaState read_schema_state(SQLite::Database& database);

// The error if this program, which knows migrations up to `known`, cannot use such a database.
Expected<void> check_schema_state(const SchemaState& state, int known,
                                  const std::filesystem::path& path);

// Makes all tables of an empty database as the last migration leaves them.
using CreateFunction = std::function<void()>;

// Applies what is missing in one transaction, so that the database is at the last version after,
// or unchanged. Another process may be doing the same. `create`, if that is set, takes the place of
// the migrations of an empty one. Throws SQLite::Exception; the error is as for
// check_schema_state.
Expected<void> migrate(SQLite::Database& database, std::span<const Migration> migrations,
                       const std::filesystem::path& path, const CreateFunction& create = {});

}  // namespace gemmtune::store
