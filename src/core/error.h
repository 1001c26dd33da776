#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gemmtune {

// What went wrong, coarse enough to choose an exit code by.
enum class ErrorKind {
  usage,        // the caller's input is wrong: exit code 2, nothing was written
  not_found,    // what was asked for does not exist
  unsupported,  // well-formed, but not on this machine, arch or version
  io,           // a file, database or library could not be read or written
  failed,       // everything else
};

// An expected failure as a value. `message` is one line that says what to do.
struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> make_error(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> usage_error(std::string message) {
  return make_error(ErrorKind::usage, std::move(message));
}

}  // namespace gemmtune
