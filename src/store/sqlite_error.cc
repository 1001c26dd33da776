#include "store/sqlite_error.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "core/names.h"

namespace gemmtune::store {
namespace {

// SQLite's reports have several lines, and damaged rows hold any bytes.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return std::iscntrl(letter) != 0; },
      ' ');
  return text;
}

}  // namespace

Error damage_error(const std::string& what, const std::filesystem::path& path) {
  return {ErrorKind::io, "the database " + in_quotes(path.string()) + " is damaged (" +
                             one_line(what) + "); restore a copy, or move it away and tune again"};
}

Error to_error(const SQLite::Exception& exception, const std::filesystem::path& path, Phase phase) {
  const std::string name = in_quotes(path.string());
  const std::string detail = one_line(exception.what());
  // At the beginning the user can name another file; later that is no more use.
  const ErrorKind refused = phase == Phase::opening ? ErrorKind::usage : ErrorKind::io;
  switch (exception.getErrorCode() & 0xFF) {  // the low byte is the primary code
    case SQLITE_NOTADB:
      return {refused, name + " is not a gemm-tune database (" + detail + ")"};
    case SQLITE_CORRUPT:
      return damage_error(detail, path);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {refused,
              "the database " + name + " cannot be opened or is not writable (" + detail + ")"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::io, "the database " + name + " stayed locked by another process"};
    case SQLITE_FULL:
      return {ErrorKind::io, "no space is left for the database " + name};
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return {ErrorKind::io, "the database " + name + " cannot be read or written: " + detail};
    default:  // a missing table or column, a broken constraint: not what was written
      return {ErrorKind::io, "the database " + name + " cannot be used: " + detail};
  }
}

}  // namespace gemmtune::store
