#include "store/shipped.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>

#include "store/record_store.h"
#include "store/shipped_rows.h"
#include "store/sqlite_error.h"

namespace gemmtune::store {
namespace {

// Gives the file's unused pages back, and takes it out of WAL mode, in which it is not complete by
// itself.
constexpr const char* kMakeComplete = "PRAGMA journal_mode = DELETE; VACUUM";

Expected<void> create_with_winners(const std::filesystem::path& path,
                                   std::span<const Entry> entries) {
  StoreOptions options;
  options.path = path;
  const auto store = open_store(options);
  if (!store) return tl::unexpected(store.error());
  const auto merged = (*store)->merge(entries);
  if (!merged) return tl::unexpected(merged.error());
  return (*store)->update_winners();
}

}  // namespace

bool is_shipped(std::string_view device_uuid) {
  return device_uuid.starts_with(kShippedPrefix);
}

Expected<void> create_shipped_file(const std::filesystem::path& path,
                                   std::span<const Entry> entries, std::string_view fingerprint) {
  if (auto created = create_with_winners(path, entries); !created) return created;
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    set_shipped(database, fingerprint);
    database.exec(kMakeComplete);
    return {};
  } catch (const SQLite::Exception& exception) {
    return tl::unexpected(to_error(exception, path, Phase::working));
  }
}

}  // namespace gemmtune::store
