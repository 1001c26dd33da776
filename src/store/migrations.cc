#include "store/migrations.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include "core/names.h"
#include "embedded/migration_files.h"
#include "store/config_function.h"

namespace gemmtune::store {
namespace {

constexpr const char* kReadVersion = "PRAGMA user_version";
constexpr const char* kReadApplication = "PRAGMA application_id";
constexpr const char* kCountObjects = "SELECT count(*) FROM sqlite_schema";

Migration read_migration(const embedded::File& file) {
  constexpr std::string_view kEnding = ".sql";
  const std::string_view name = file.path.substr(file.path.rfind('/') + 1);
  Migration migration;
  const auto [end, code] =
      std::from_chars(name.data(), name.data() + name.size(), migration.version);
  if (code != std::errc() || end != name.data() + 4 || name.size() < 6 || name[4] != '_' ||
      !name.ends_with(kEnding)) {
    throw std::logic_error("migration '" + std::string(name) + "' is not named NNNN_name.sql");
  }
  migration.name = name.substr(5, name.size() - 5 - kEnding.size());
  migration.sql = file.text;
  return migration;
}

int read_int(SQLite::Database& database, const char* sql) {
  return database.execAndGet(sql).getInt();
}

// PRAGMA takes no parameters, and user_version and application_id are numbers of ours.
void write_version(SQLite::Database& database, int version) {
  database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.exec("PRAGMA user_version = " + std::to_string(version));
}

}  // namespace

std::vector<Migration> read_migrations(std::span<const embedded::File> files) {
  std::vector<Migration> migrations;
  std::transform(files.begin(), files.end(), std::back_inserter(migrations), read_migration);
  std::sort(migrations.begin(), migrations.end(),
            [](const Migration& a, const Migration& b) { return a.version < b.version; });
  for (size_t i = 0; i < migrations.size(); ++i) {
    if (migrations[i].version != static_cast<int>(i) + 1) {
      throw std::logic_error("migration " + std::to_string(i + 1) + " is missing or stands twice");
    }
  }
  return migrations;
}

const std::vector<Migration>& known_migrations() {
  static const std::vector<Migration> migrations = read_migrations(embedded::migration_files());
  return migrations;
}

SchemaState read_schema_state(SQLite::Database& database) {
  SchemaState state;
  state.version = read_int(database, kReadVersion);
  const int application = read_int(database, kReadApplication);
  const bool is_empty = read_int(database, kCountObjects) == 0;
  const bool is_blank = is_empty && state.version == 0 && application == 0;
  state.foreign = application != kApplicationId && !is_blank;
  return state;
}

Expected<void> check_schema_state(const SchemaState& state, int known,
                                  const std::filesystem::path& path) {
  if (state.foreign) {
    return usage_error(in_quotes(path.string()) +
                       " is a database of another program, not gemm-tune's");
  }
  if (state.version > known) {
    return usage_error("the database " + in_quotes(path.string()) + " has version " +
                       std::to_string(state.version) + ", this gemm-tune knows versions up to " +
                       std::to_string(known) + "; use a newer gemm-tune or another file");
  }
  if (state.version < 0) {
    return usage_error("the database " + in_quotes(path.string()) + " is damaged (version " +
                       std::to_string(state.version) + ")");
  }
  return {};
}

Expected<void> migrate(SQLite::Database& database, std::span<const Migration> migrations,
                       const std::filesystem::path& path, const CreateFunction& create) {
  const int known = static_cast<int>(migrations.size());
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // Under the lock the state is read again: another process may just have upgraded the file.
  const SchemaState state = read_schema_state(database);
  if (auto usable = check_schema_state(state, known, path); !usable) return usable;
  if (state.version == known) return {};
  if (state.version == 0 && create) {
    create();
  } else {
    add_config_function(database);
    for (const Migration& migration : migrations.subspan(static_cast<size_t>(state.version)))
      database.exec(std::string(migration.sql));
  }
  write_version(database, known);
  transaction.commit();
  return {};
}

}  // namespace gemmtune::store
