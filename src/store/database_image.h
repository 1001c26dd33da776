#pragma once

#include <SQLiteCpp/Database.h>

#include <string_view>

// A database as the bytes of its file, in memory. Functions throw SQLite::Exception, as they do for
// bytes that are no database.
namespace gemmtune::store {

// A database in memory that begins with a copy of the image. SQLite does not lock it for threads.
SQLite::Database copy_of_image(std::string_view image);

// A database that reads the image in place; the image outlives it.
SQLite::Database view_of_image(std::string_view image);

// A copy of an image beside the main database of a connection. To be made and destroyed outside of
// transactions.
class AttachedImage {
 public:
  AttachedImage(SQLite::Database& database, std::string_view image);
  ~AttachedImage();
  AttachedImage(const AttachedImage&) = delete;
  AttachedImage& operator=(const AttachedImage&) = delete;

  // Gives the main database, which is empty, the image's tables with their rows, indices, views and
  // triggers, within the caller's transaction.
  void copy_all();

 private:
  SQLite::Database& database_;
};

}  // namespace gemmtune::store
