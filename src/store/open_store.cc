#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/names.h"
#include "store/database_image.h"
#include "store/lock_wait.h"
#include "store/migrations.h"
#include "store/path_check.h"
#include "store/shipped_rows.h"
#include "store/sqlite_error.h"
#include "store/sqlite_store.h"

namespace gemmtune::store {
namespace {

namespace fs = std::filesystem;

// cell_size_check finds damaged pages before they are used; trusted_schema keeps a schema that
// somebody else wrote from calling functions with side effects.
constexpr const char* kPragmas =
    "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF";
// In WAL mode NORMAL loses no commit when the process is killed, only, at worst, the last ones when
// the machine loses power, and saves an fsync per candidate.
constexpr const char* kSynchronous = "PRAGMA synchronous = NORMAL";
constexpr const char* kReadJournalMode = "PRAGMA journal_mode";
constexpr const char* kUseWal = "PRAGMA journal_mode = WAL";

// The path as an SQLite URI that promises the file does not change: the only way to read a WAL
// database where its helper files cannot be created.
std::string immutable_uri(const fs::path& path) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char letter : path.string()) {
    if (letter == '?' || letter == '#' || letter == '%') {
      const auto byte = static_cast<unsigned char>(letter);
      uri.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    } else {
      uri += letter;
    }
  }
  return uri + "?immutable=1";
}

bool has_pending_wal(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path.string() + "-wal", error);
  return !error && bytes > 0;
}

// SqliteStore serialises the calls of threads itself; SQLite would lock and unlock for every column
// that is read.
int without_mutex(int flags) {
  return flags | SQLite::OPEN_NOMUTEX;
}

// The state as of one moment: another process may be creating the tables right now.
SchemaState look_at_schema(SQLite::Database& database) {
  const SQLite::Transaction snapshot(database);
  return read_schema_state(database);
}

SQLite::Database open_for_reading(const fs::path& path, LockWait& wait) {
  try {
    SQLite::Database database(path.string(), without_mutex(SQLite::OPEN_READONLY));
    wait.attach(database);
    look_at_schema(database);  // opening is lazy; this reads
    return database;
  } catch (const SQLite::Exception& exception) {
    const int code = exception.getErrorCode() & 0xFF;
    const bool no_helper_files = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (!no_helper_files || has_pending_wal(path)) throw;
  }
  return {immutable_uri(path), without_mutex(SQLite::OPEN_READONLY | SQLite::OPEN_URI)};
}

// Sets WAL mode, which is kept in the file. SQLite does not wait for locks here by itself.
void use_wal(SQLite::Database& database, LockWait& wait) {
  int code = database.tryExec(kUseWal);
  for (int tries = 0; (code & 0xFF) == SQLITE_BUSY && wait.go_on(tries); ++tries)
    code = database.tryExec(kUseWal);
  if (code != SQLITE_OK) throw SQLite::Exception(database.getHandle(), code);
  if (database.execAndGet(kReadJournalMode).getString() != "wal") {
    throw SQLite::Exception("its file system does not support write-ahead logging", SQLITE_IOERR);
  }
}

// Makes the tables of an empty database or upgrades those of an older one. What is shipped takes
// the place of empty tables.
Expected<void> bring_up_to_date(SQLite::Database& database, const fs::path& path, bool is_empty,
                                const std::optional<ShippedResults>& shipped) {
  if (!is_empty || !shipped) return migrate(database, known_migrations(), path);
  AttachedImage image(database, shipped->database);
  return migrate(database, known_migrations(), path, [&] { image.copy_all(); });
}

Expected<SQLite::Database> open_writable(const fs::path& path, const StoreOptions& options,
                                         LockWait& wait) {
  SQLite::Database database(path.string(),
                            without_mutex(SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  wait.attach(database);
  // SQLite falls back to reading where it may not write.
  if (sqlite3_db_readonly(database.getHandle(), "main") == 1) {
    return usage_error("the database " + in_quotes(path.string()) + " is not writable");
  }
  const int known = schema_version();
  // Before anything is written: is it ours, and of a version we know?
  const SchemaState state = look_at_schema(database);
  if (auto usable = check_schema_state(state, known, path); !usable) {
    return tl::unexpected(usable.error());
  }
  use_wal(database, wait);
  database.exec(kSynchronous);
  const bool is_empty = state.version == 0;
  if (auto current = bring_up_to_date(database, path, is_empty, options.shipped); !current) {
    return tl::unexpected(current.error());
  }
  return database;
}

Expected<SQLite::Database> open_readable(const fs::path& path, LockWait& wait) {
  SQLite::Database database = open_for_reading(path, wait);
  const int known = schema_version();
  const SchemaState state = look_at_schema(database);
  if (auto usable = check_schema_state(state, known, path); !usable) {
    return tl::unexpected(usable.error());
  }
  if (state.version == 0) {
    return make_error(ErrorKind::not_found,
                      "the database " + in_quotes(path.string()) + " is empty");
  }
  if (state.version < known) {
    return usage_error("the database " + in_quotes(path.string()) + " has version " +
                       std::to_string(state.version) + ", older than this gemm-tune's " +
                       std::to_string(known) +
                       "; 'gemm-tune db upgrade --db FILE' upgrades it, and so does a tune");
  }
  return database;
}

// What `look` says of a file of ours and its schema version; Answer{} for any other file, and for
// one that cannot be read: whoever opens it is told why.
template <class Answer, class Look>
Answer look_into(const fs::path& path, const Look& look) {
  if (!check_path(path, {.read_only = true, .create_directory = false})) return {};
  try {
    LockWait wait(StoreOptions{}.busy_timeout, {});
    SQLite::Database database = open_for_reading(path, wait);
    const SchemaState state = look_at_schema(database);
    return state.foreign ? Answer{} : look(database, state.version);
  } catch (const SQLite::Exception&) {
    return {};
  }
}

}  // namespace

Expected<std::unique_ptr<RecordStore>> open_store(const StoreOptions& options) {
  const PathUse use{options.read_only, options.create_directory};
  if (auto usable = check_path(options.path, use); !usable) return tl::unexpected(usable.error());
  std::error_code error;
  const fs::path path = fs::absolute(options.path, error);
  if (error) return usage_error(in_quotes(options.path.string()) + ": " + error.message());
  try {
    auto wait = std::make_unique<LockWait>(options.busy_timeout, options.on_long_wait);
    auto database =
        options.read_only ? open_readable(path, *wait) : open_writable(path, options, *wait);
    if (!database) return tl::unexpected(database.error());
    database->exec(kPragmas);
    if (options.shipped && !options.read_only) {
      if (auto updated = update_shipped(*database, *options.shipped); !updated)
        return tl::unexpected(updated.error());
    }
    auto store =
        std::make_unique<SqliteStore>(*std::move(database), std::move(wait), path, options.now);
    // For whoever reads next; it is right without, too.
    if (!options.read_only) static_cast<void>(store->update_winners());
    return store;
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(to_error(exception, options.path, Phase::opening));
  }
}

int schema_version() {
  return static_cast<int>(known_migrations().size());
}

std::optional<int> older_schema(const fs::path& path) {
  return look_into<std::optional<int>>(path, [](SQLite::Database&, int version) {
    const bool older = version > 0 && version < schema_version();
    return older ? std::optional(version) : std::nullopt;
  });
}

bool holds_other_shipped(const fs::path& path, std::string_view fingerprint) {
  return look_into<bool>(path, [&](SQLite::Database& database, int version) {
    return version == schema_version() && !holds_shipped(database, fingerprint);
  });
}

Expected<std::unique_ptr<RecordStore>> open_memory_store(
    const std::optional<ShippedResults>& shipped) {
  const fs::path path = ":memory:";
  try {
    SQLite::Database database =
        shipped ? copy_of_image(shipped->database)
                : SQLite::Database(path.string(), without_mutex(SQLite::OPEN_READWRITE));
    database.exec(kPragmas);
    if (auto migrated = migrate(database, known_migrations(), path); !migrated)
      return tl::unexpected(migrated.error());
    return std::make_unique<SqliteStore>(std::move(database), nullptr, path,
                                         std::chrono::system_clock::now);
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(to_error(exception, path, Phase::opening));
  }
}

}  // namespace gemmtune::store
