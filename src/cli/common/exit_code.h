#pragma once

#include "core/error.h"

namespace gemmtune::cli {

// What the process ends with; docs/cli.md has the rule.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  // asked for rightly: it failed, or nothing was found
  kUsage = 2,   // to be asked for in another way, with other files, or on another machine
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::unsupported:
      return kUsage;
    case ErrorKind::not_found:
    case ErrorKind::io:
    case ErrorKind::failed:
      return kFailed;
  }
  return kFailed;
}

}  // namespace gemmtune::cli
