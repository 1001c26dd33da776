#include "store/database_image.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>

#include <cstring>
#include <new>
#include <string>

#include "store/sql/image.h"

namespace gemmtune::store {
namespace {

constexpr const char* kInMemory = ":memory:";
constexpr const char* kMain = "main";

void hold(SQLite::Database& database, const char* schema, unsigned char* bytes, size_t size,
          unsigned flags) {
  const auto length = static_cast<sqlite3_int64>(size);
  const int code = sqlite3_deserialize(database.getHandle(), schema, bytes, length, length, flags);
  if (code != SQLITE_OK) throw SQLite::Exception(database.getHandle(), code);
}

void hold_copy(SQLite::Database& database, const char* schema, std::string_view image) {
  auto* const bytes = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
  if (bytes == nullptr) throw std::bad_alloc();
  std::memcpy(bytes, image.data(), image.size());
  // SQLite frees the bytes, also where it fails.
  hold(database, schema, bytes, image.size(),
       SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
}

SQLite::Database empty_database() {
  return {kInMemory, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX};
}

}  // namespace

SQLite::Database copy_of_image(std::string_view image) {
  SQLite::Database database = empty_database();
  hold_copy(database, kMain, image);
  return database;
}

SQLite::Database view_of_image(std::string_view image) {
  SQLite::Database database = empty_database();
  // SQLite's interface has one pointer for both; it does not write to what is read-only.
  auto* const bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(image.data()));
  hold(database, kMain, bytes, image.size(), SQLITE_DESERIALIZE_READONLY);
  return database;
}

AttachedImage::AttachedImage(SQLite::Database& database, std::string_view image)
    : database_(database) {
  database_.exec(sql::kAttachImage);
  try {
    // Not in place: a transaction that writes begins on every database of its connection.
    hold_copy(database_, sql::kImageSchema, image);
  } catch (const SQLite::Exception&) {
    database_.tryExec(sql::kDetachImage);
    throw;
  }
}

AttachedImage::~AttachedImage() {
  database_.tryExec(sql::kDetachImage);
}

void AttachedImage::copy_all() {
  SQLite::Statement objects(database_, sql::kSelectImageObjects);
  while (objects.executeStep()) {
    database_.exec(objects.getColumn("sql").getString());
    // Triggers come after all rows, so that they do not see them.
    if (const std::string copy = objects.getColumn("copy_rows").getString(); !copy.empty())
      database_.exec(copy);
  }
}

}  // namespace gemmtune::store
