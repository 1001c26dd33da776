#include "core/file_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace gemmtune {
namespace {

constexpr std::array kFailures = {ENOSPC, EDQUOT, EFBIG, EIO,    ENOMEM, EMFILE,   ENFILE,
                                  EBUSY,  EPIPE,  EINTR, ESTALE, EAGAIN, ETIMEDOUT};

}  // namespace

Error file_error(std::string_view what, int code) {
  const bool failed = std::find(kFailures.begin(), kFailures.end(), code) != kFailures.end();
  return {failed ? ErrorKind::io : ErrorKind::usage,
          std::string(what) + ": " + std::generic_category().message(code)};
}

}  // namespace gemmtune
